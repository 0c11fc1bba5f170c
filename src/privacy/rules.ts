import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Database } from '../database/pool.ts'
import type { RowOf } from '../database/statement.ts'
import type { claim } from '../database/statements/items.ts'
import * as stored from '../database/statements/privacy.ts'
import type { StoredEmails } from '../database/users.ts'
import { zoneDays } from '../database/zone-days.ts'
import type { ZoneDays } from '../database/zone-days.ts'
import type { Operation } from '../errors.ts'
import { withoutTooDeep } from './json.ts'
import { erasedIn, hashEmail } from './people.ts'
import type { ErasedPeople } from './people.ts'
import { redactMessage } from './redact-members.ts'
import { redactComment, redactUser } from './redact.ts'
import type { Redaction } from './redact.ts'

/** The settings `PRIVACY_EMAIL` and `PRIVACY_RAW`. */
export interface PrivacyPolicy {
  readonly email: StoredEmails
  readonly raw: 'keep' | 'drop'
}

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
  /**
   * What is stored as the digest of a response's bytes, and back. Another policy makes another digest of the same bytes, so
   * that the next run reads every response again.
   */
  sealed(bodyDigest: Buffer): Buffer
}

/** What a claim saw of erasures and definitions. */
type SeenByClaim = Pick<RowOf<typeof claim>, 'lastErasure' | 'writtenMember' | 'reportTimeZone'>

/**
 * Makes the rules of claims. A claim keeps its rules until its end: an erasure (erase/claim-batches.sql) and a change of the
 * definitions (definitions/set.sql) write to every batch that they concern, so that no claim from before them can commit.
 */
export class RulesKeeper {
  readonly #database: Database
  readonly #policy: PrivacyPolicy
  #last: { readonly seen: SeenByClaim; readonly rules: Rules } | null = null

  constructor(database: Database, policy: PrivacyPolicy) {
    this.#database = database
    this.#policy = policy
  }

  /** The rules of a claim. Reads the database only if the claim saw something else than the claim before. */
  async of({ lastErasure, writtenMember, reportTimeZone }: SeenByClaim): Promise<Rules> {
    const seen = { lastErasure, writtenMember, reportTimeZone }
    if (this.#last === null || !isDeepStrictEqual(seen, this.#last.seen))
      this.#last = { seen, rules: await this.#read(seen) }
    return this.#last.rules
  }

  /** The rules of now for what is compared and not stored, in UTC. */
  now(): Promise<Rules> {
    return this.#read({ lastErasure: 0, writtenMember: null, reportTimeZone: 'UTC' })
  }

  async #read({ lastErasure, writtenMember, reportTimeZone }: SeenByClaim): Promise<Rules> {
    const policy = this.#policy
    const isPlain = policy.email === 'keep' && policy.raw === 'keep'
    const erasures = lastErasure === null ? [] : await stored.erasures.all(this.#database)
    const keepsAll = isPlain && erasures.length === 0
    const salt = keepsAll ? null : (await stored.salt.one(this.#database)).salt
    const redacts = new Map<string, Redact | null>()
    return Object.freeze({
      emails: policy.email,
      days: await zoneDays(this.#database, reportTimeZone),
      writtenPath: writtenMember?.split('.') ?? null,
      sealed: maskOf(policy),
      redact(organizationId: string) {
        if (salt === null) return null
        let redact = redacts.get(organizationId)
        if (redact === undefined) {
          const erased = erasedIn(salt, erasures, organizationId)
          redact = erased === null && isPlain ? null : redactBy(redactionOf(policy, salt, erased))
          redacts.set(organizationId, redact)
        }
        return redact
      },
    })
  }
}

function redactBy(redaction: Redaction): Redact {
  return {
    users: (item) => redactUser(withoutTooDeep(item), redaction),
    comments: (item) => redactComment(withoutTooDeep(item), redaction),
    text: (text) => redactMessage(text, redaction),
  }
}

function redactionOf(policy: PrivacyPolicy, salt: Buffer, erased: ErasedPeople | null): Redaction {
  const emails = {
    keep: null,
    hash: (email: string) => (email.trim() === '' ? email : hashEmail(salt, email)),
    drop: () => null,
  }
  return { email: emails[policy.email], keepsUnknown: policy.raw === 'keep', erased }
}

/** Turns some bits of a digest, and back when it is applied again; none where everything is kept. */
function maskOf({ email, raw }: PrivacyPolicy): (digest: Buffer) => Buffer {
  if (email === 'keep' && raw === 'keep') return (digest) => digest
  const mask = createHash('sha256').update(`email ${email}, raw ${raw}`).digest()
  return (digest) => Buffer.from(digest.map((byte, place) => byte ^ (mask[place] as number)))
}
