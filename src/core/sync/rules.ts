import type { Operation } from '../../base/operations.ts'
import type { RowOf } from '../database/statement.ts'
import type { claim } from '../database/statements/refresh.ts'
import type { StoredEmails } from '../database/users.ts'
import type { ZoneDays } from '../database/comment-rows.ts'

/** Leaves out of records, and of messages of the service, what may not be stored. */
export type Redact = Readonly<Record<Operation, (item: unknown) => unknown>> & {
  readonly text: <T>(text: T) => T | string
}

/** What is stored of responses, and how. All scopes of a claim have the same rules. */
export interface Rules {
  readonly emails: StoredEmails
  /** The days of reports, in `REPORT_TZ`. */
  readonly days: ZoneDays
  /** Leads to the member that says when a comment was written, `COMMENT_WRITTEN_MEMBER`; null where it is not set. */
  readonly writtenPath: readonly string[] | null
  /** Null where everything may be stored of the organization's records. */
  redact(organizationId: string): Redact | null
  /** Leaves the fields of `PRIVACY_EXCLUDE` out of redacted items; null where none is to be left out. */
  readonly leaveOut: Readonly<Record<Operation, ((item: unknown) => unknown) | null>>
  /**
   * What is stored as the digest of a response's bytes, and back. Another policy makes another digest of the same bytes, so
   * that the next run reads every response of the operation again.
   */
  sealed(operation: Operation, bodyDigest: Buffer): Buffer
}

/** What a claim saw of erasures and definitions. */
export type SeenByClaim = Omit<RowOf<typeof claim>, 'claimNo'>

/** Makes the rules of claims; `src/features/privacy` does. */
export interface RulesSource {
  /** The rules of a claim. */
  of(seen: SeenByClaim): Promise<Rules>
  /** The rules of now for what is compared and not stored, in UTC. */
  now(): Promise<Rules>
}
