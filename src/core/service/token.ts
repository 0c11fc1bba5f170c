import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { UsageError } from '../../base/errors.ts'

/** Where the value of `x-service-auth-token` comes from: one of the two. */
export interface TokenSource {
  readonly authToken?: string | undefined
  readonly authTokenFile?: string | undefined
}

/** A run may have 100,000 scopes that are forbidden. */
const REREAD_AFTER_MS = 1000

/**
 * The auth token. How it is obtained and how long it lives is not known (docs/SERVICE.md, What is not known): a file
 * is read at the start and again only when the service refuses what it held.
 */
export class Token {
  readonly #path: string | undefined
  readonly #now: () => number
  #token: string
  #reading: Promise<void> | null = null
  #readAtMs = -Infinity

  /**
   * @param now a clock in milliseconds that never goes back
   * @throws UsageError naming `COLLAB_AUTH_TOKEN_FILE`
   */
  constructor({ authToken = '', authTokenFile }: TokenSource, now = () => performance.now()) {
    this.#path = authTokenFile
    this.#now = now
    this.#token = authTokenFile === undefined ? authToken : readAtStart(authTokenFile)
  }

  current(): string {
    return this.#token
  }

  /**
   * Reads the file again after the service refused a call with the token `refused`. A file that cannot be read, or is empty,
   * leaves the token as it is.
   * @param isForbidden the call was forbidden (403), which may concern its scope only: then at most once a second
   * @returns true when there is another token to try by now, whichever call read it
   */
  async reread(refused: string, isForbidden: boolean): Promise<boolean> {
    if (this.#path === undefined || this.#token !== refused) return this.#token !== refused
    const isRecent = this.#now() - this.#readAtMs < REREAD_AFTER_MS
    if (!isRecent || !isForbidden)
      this.#reading ??= this.#read(this.#path).finally(() => (this.#reading = null))
    await this.#reading
    return this.#token !== refused
  }

  async #read(path: string): Promise<void> {
    this.#readAtMs = this.#now()
    const token = (await readFile(path, 'utf8').catch(() => '')).trim()
    if (isHeaderValue(token)) this.#token = token
  }
}

function readAtStart(path: string): string {
  try {
    const token = readFileSync(path, 'utf8').trim()
    if (isHeaderValue(token)) return token
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message = `COLLAB_AUTH_TOKEN_FILE: ${path} cannot be read (${code})`
    throw new UsageError(message, { cause: error })
  }
  throw new UsageError(
    `COLLAB_AUTH_TOKEN_FILE: ${path} must hold the auth token on one line, in characters that a header can carry`,
  )
}

/** True for one or more characters that a header can carry. */
function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]+$/.test(value)
}
