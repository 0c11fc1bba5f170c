import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Database } from '../../core/database/pool.ts'
import type { On } from '../../core/database/statement.ts'
import * as stored from '../../core/database/statements/privacy.ts'
import type { StoredEmails } from '../../core/database/users.ts'
import { zoneDays } from '../../core/database/comment-rows.ts'
import type { Redact, Rules, RulesSource, SeenByClaim } from '../../core/sync/rules.ts'
import { withoutTooDeep } from '../../base/json.ts'
import { erasedIn, hashEmail } from './people.ts'
import type { ErasedPeople } from './people.ts'
import { redactString } from './redact-text.ts'
import { redactComment, redactRow, redactUser } from './redact.ts'

/** The settings `PRIVACY_EMAIL` and `PRIVACY_RAW`. */
export interface PrivacyPolicy {
  readonly email: StoredEmails
  readonly raw: 'keep' | 'drop'
}

/**
 * Makes the rules of claims. A claim keeps its rules until its end: an erasure (erase/claim-batches.sql) and a change of the
 * definitions (definitions/set.sql) write to every batch that they concern, so that no claim from before them can commit.
 */
export class RulesKeeper implements RulesSource {
  readonly #database: Database
  readonly #policy: PrivacyPolicy
  #last: { readonly seen: SeenByClaim; readonly rules: Rules } | null = null

  constructor(database: Database, policy: PrivacyPolicy) {
    this.#database = database
    this.#policy = policy
  }

  /** The rules of a claim. Reads the database only if the erasures or definitions changed since the claim before. */
  async of({ lastErasure, writtenMember, reportTimeZone }: SeenByClaim): Promise<Rules> {
    const seen = { lastErasure, writtenMember, reportTimeZone }
    if (this.#last === null || !isDeepStrictEqual(seen, this.#last.seen))
      this.#last = { seen, rules: await this.#read(seen) }
    return this.#last.rules
  }

  /** The current rules, in UTC, for records that are compared and not stored. */
  now(): Promise<Rules> {
    return this.#read({ lastErasure: 0, writtenMember: null, reportTimeZone: 'UTC' })
  }

  async #read({ lastErasure, writtenMember, reportTimeZone }: SeenByClaim): Promise<Rules> {
    const policy = this.#policy
    const isPlain = policy.email === 'keep' && policy.raw === 'keep'
    const erasures = lastErasure === null ? [] : await stored.erasures.all(this.#database)
    const keepsAll = isPlain && erasures.length === 0
    const salt = keepsAll ? null : (await stored.salt.one(this.#database)).salt
    return Object.freeze({
      emails: policy.email,
      days: await zoneDays(this.#database, reportTimeZone),
      writtenPath: writtenMember?.split('.') ?? null,
      sealed: maskOf(policy),
      redact: onceEach((organizationId): Redact | null => {
        if (salt === null) return null
        const erased = erasedIn(salt, erasures, organizationId)
        return erased === null && isPlain ? null : redactBy(policy, salt, erased)
      }),
    })
  }
}

/** Removes erased people from names in the catalog, as an erasure does with stored names. */
export async function readNameRedaction(on: On) {
  const erasures = await stored.erasures.all(on)
  const { salt } = await stored.salt.one(on)
  const peopleOf = onceEach((organizationId) => erasedIn(salt, erasures, organizationId))
  return {
    lastErasure: erasures.at(-1)?.erasureId ?? null,
    redact(organizationId: string, name: string): string {
      const erased = peopleOf(organizationId)
      if (erased === null) return name
      return String(redactRow({ name }, { email: null, keepsUnknown: true, erased })['name'])
    },
  }
}

/** Calls `make` once for each organization. */
function onceEach<T>(make: (organizationId: string) => T): (organizationId: string) => T {
  const made = new Map<string, T>()
  return (organizationId) => {
    if (!made.has(organizationId)) made.set(organizationId, make(organizationId))
    return made.get(organizationId) as T
  }
}

function redactBy(policy: PrivacyPolicy, salt: Buffer, erased: ErasedPeople | null): Redact {
  const emails = {
    keep: null,
    hash: (email: string) => (email.trim() === '' ? email : hashEmail(salt, email)),
    drop: () => null,
  }
  const redaction = { email: emails[policy.email], keepsUnknown: policy.raw === 'keep', erased }
  return {
    users: (item) => redactUser(withoutTooDeep(item), redaction),
    comments: (item) => redactComment(withoutTooDeep(item), redaction),
    text: (text) =>
      erased === null || typeof text !== 'string' ? text : redactString(text, erased, false),
  }
}

/**
 * Inverts some bits of a digest, and restores them when it is applied again; none if everything is stored. The first number
 * changes with what redact.ts leaves out, so that every response is read again.
 */
function maskOf({ email, raw }: PrivacyPolicy): (digest: Buffer) => Buffer {
  if (email === 'keep' && raw === 'keep') return (digest) => digest
  const mask = createHash('sha256').update(`2: email ${email}, raw ${raw}`).digest()
  return (digest) => Buffer.from(digest.map((byte, place) => byte ^ (mask[place] as number)))
}
