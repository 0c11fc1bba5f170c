import type { Redaction } from '../privacy/redact.ts'

/** A person on the way out. */
export interface Person {
  readonly userId: string
  readonly pseudonym: string
  readonly emails: readonly string[]
  /** The id as it may stand inside of JSON. */
  readonly idInJson: readonly string[]
  readonly redaction: Redaction
}
