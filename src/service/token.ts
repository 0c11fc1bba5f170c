import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { UsageError } from '../errors.ts'

/** Where the value of `x-service-auth-token` comes from. */
export type TokenSource = { readonly token: string } | { readonly tokenFile: string }

export interface Token {
  current(): string
  /**
   * Reads the file again after the service refused a call with the token `refused`. A file that cannot be read, or is empty,
   * leaves the token as it is.
   * @param isForbidden the call was forbidden (403), which may concern its scope only: then at most once a second
   * @returns true when there is another token to try by now, whichever call read it
   */
  reread(refused: string, isForbidden: boolean): Promise<boolean>
}

/**
 * How the token is obtained and how long it lives is not shown (service-api.md, Authentication): a file
 * is read at the start and again only when the service refuses what it held.
 * @param now a clock in milliseconds that never goes back
 * @throws UsageError naming `COLLAB_AUTH_TOKEN` or `COLLAB_AUTH_TOKEN_FILE`
 */
export function openToken(source: TokenSource, now = () => performance.now()): Token {
  if ('token' in source) {
    const token = source.token.trim()
    checkToken(token, 'COLLAB_AUTH_TOKEN')
    return { current: () => token, reread: async () => false }
  }
  return new FileToken(source.tokenFile, now)
}

/** A header cannot carry other characters; the value itself is never shown. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]+$/.test(value)
}

/** A run may have 100,000 scopes that are forbidden. */
const REREAD_AFTER_MS = 1000

class FileToken implements Token {
  readonly #path: string
  readonly #now: () => number
  #token: string
  #reading: Promise<void> | null = null
  #readAtMs = -Infinity

  constructor(path: string, now: () => number) {
    this.#path = path
    this.#now = now
    this.#token = readAtStart(path)
    checkToken(this.#token, `COLLAB_AUTH_TOKEN_FILE (${path})`)
  }

  current(): string {
    return this.#token
  }

  async reread(refused: string, isForbidden: boolean): Promise<boolean> {
    if (this.#token !== refused) return true
    const isRecent = this.#now() - this.#readAtMs < REREAD_AFTER_MS
    if (!isRecent || !isForbidden)
      this.#reading ??= this.#read().finally(() => (this.#reading = null))
    await this.#reading
    return this.#token !== refused
  }

  async #read(): Promise<void> {
    this.#readAtMs = this.#now()
    const text = await readFile(this.#path, 'utf8').catch(() => '')
    const token = text.trim()
    if (isHeaderValue(token)) this.#token = token
  }
}

function readAtStart(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new UsageError(
      `COLLAB_AUTH_TOKEN_FILE: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      { cause: error },
    )
  }
}

function checkToken(token: string, setting: string): void {
  if (token === '') throw new UsageError(`${setting} is empty: it must hold the auth token`)
  if (!isHeaderValue(token)) {
    throw new UsageError(`${setting} holds a character that a header cannot carry`)
  }
}
