import { readFile } from 'node:fs/promises'
import { decodeText, isHeaderValue } from '../../base/secret-file.ts'

/** Values of `x-service-api-key` and `x-service-auth-token`. */
export interface Credentials {
  readonly apiKey: string
  readonly authToken: string
}

/** Key and token as they are at the start, and the files that contain them, if any. */
export interface CredentialSource extends Credentials {
  readonly apiKeyFile?: string | undefined
  readonly authTokenFile?: string | undefined
}

/** A run may have 100,000 scopes that are forbidden. */
const REREAD_AFTER_MS = 1000

/**
 * Key and token. How they are obtained and how long they live is not known (docs/SERVICE.md, What is not known): their files
 * are read again only when the service refuses what they held.
 */
export class CurrentCredentials {
  readonly #source: CredentialSource
  readonly #now: () => number
  #current: Credentials
  #reading: Promise<void> | null = null
  #readAtMs = -Infinity

  /** @param now a clock in milliseconds that never goes back */
  constructor(source: CredentialSource, now = () => performance.now()) {
    this.#source = source
    this.#now = now
    this.#current = { apiKey: source.apiKey, authToken: source.authToken }
  }

  /** The same object until another key or token was read. */
  get(): Credentials {
    return this.#current
  }

  /**
   * Reads the files again after the service refused a call with `refused`. A file that cannot be read, or is empty, leaves its
   * key or token as it is.
   * @param isForbidden the call was forbidden (403), which may concern its scope only: then at most once a second
   * @returns true when there are others to try by now, whichever call read them
   */
  async reread(refused: Credentials, isForbidden: boolean): Promise<boolean> {
    if (this.#current !== refused) return true
    const isRecent = this.#now() - this.#readAtMs < REREAD_AFTER_MS
    if (!isRecent || !isForbidden)
      this.#reading ??= this.#read().finally(() => (this.#reading = null))
    await this.#reading
    return this.#current !== refused
  }

  async #read(): Promise<void> {
    this.#readAtMs = this.#now()
    const before = this.#current
    const { apiKeyFile, authTokenFile } = this.#source
    const [apiKey, authToken] = await Promise.all([
      read(apiKeyFile, before.apiKey),
      read(authTokenFile, before.authToken),
    ])
    const isSame = apiKey === before.apiKey && authToken === before.authToken
    if (!isSame) this.#current = { apiKey, authToken }
  }
}

async function read(path: string | undefined, before: string): Promise<string> {
  if (path === undefined) return before
  try {
    const text = decodeText(await readFile(path)).trim()
    return isHeaderValue(text) ? text : before
  } catch {
    return before
  }
}
