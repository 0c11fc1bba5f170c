import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { forEachOperation, OPERATIONS } from '../../base/operations.ts'
import type { Database } from '../../core/database/pool.ts'
import type { On } from '../../core/database/statement.ts'
import * as definitions from '../../core/database/statements/definitions.ts'
import * as stored from '../../core/database/statements/privacy.ts'
import { zoneDays } from '../../core/database/comment-rows.ts'
import type { Redact, Rules, RulesSource, SeenByClaim } from '../../core/sync/rules.ts'
import { withoutTooDeep } from '../../base/json.ts'
import { readMemberPath, splitPaths } from '../../base/member-path.ts'
import { leavingOut } from './leave-out.ts'
import { erasedIn, hashEmail } from './people.ts'
import type { ErasedPeople } from './people.ts'
import { redactString } from './redact-text.ts'
import { redactItem, redactRow } from './redact.ts'

/** The settings `PRIVACY_EMAIL`, `PRIVACY_RAW` and `PRIVACY_EXCLUDE`, as the database has them. */
type PrivacyPolicy = Pick<SeenByClaim, 'privacyEmail' | 'privacyRaw' | 'privacyExclude'>

/**
 * Makes the rules of claims. A claim keeps its rules until its end: an erasure (erase/claim-batches.sql) and a change of the
 * definitions (definitions/set.sql) write to every batch that they concern, so that no claim from before them can commit.
 */
export class RulesKeeper implements RulesSource {
  readonly #database: Database
  #last: { readonly seen: SeenByClaim; readonly rules: Rules } | null = null

  constructor(database: Database) {
    this.#database = database
  }

  /** The rules of a claim. Reads the database only if the erasures or definitions changed since the claim before. */
  async of(claim: SeenByClaim): Promise<Rules> {
    const { lastErasure, writtenMember, reportTimeZone } = claim
    const { privacyEmail, privacyRaw, privacyExclude } = claim
    const policy = { privacyEmail, privacyRaw, privacyExclude }
    const seen = { lastErasure, writtenMember, reportTimeZone, ...policy }
    if (this.#last === null || !isDeepStrictEqual(seen, this.#last.seen))
      this.#last = { seen, rules: await this.#read(seen) }
    return this.#last.rules
  }

  /** The current rules, in UTC, for records that are compared and not stored. */
  async now(): Promise<Rules> {
    const policy = await definitions.read.one(this.#database)
    return this.#read({ ...policy, lastErasure: 0, writtenMember: null, reportTimeZone: 'UTC' })
  }

  async #read(seen: SeenByClaim): Promise<Rules> {
    const { lastErasure, writtenMember, reportTimeZone, privacyExclude } = seen
    const isPlain = seen.privacyEmail === 'keep' && seen.privacyRaw === 'keep'
    const erasures = lastErasure === null ? [] : await stored.erasures.all(this.#database)
    const keepsAll = isPlain && erasures.length === 0
    const salt = keepsAll ? null : (await stored.salt.one(this.#database)).salt
    return Object.freeze({
      emails: seen.privacyEmail,
      days: await zoneDays(this.#database, reportTimeZone),
      writtenPath: writtenMember?.split('.') ?? null,
      leaveOut: forEachOperation((operation) =>
        leavingOut(privacyExclude, OPERATIONS[operation].record),
      ),
      sealed: maskOf(seen),
      redact: onceEach((organizationId): Redact | null => {
        if (salt === null) return null
        const erased = erasedIn(salt, erasures, organizationId)
        return erased === null && isPlain ? null : redactBy(seen, salt, erased)
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
  const { privacyEmail, privacyRaw } = policy
  const redaction = { email: emails[privacyEmail], keepsUnknown: privacyRaw === 'keep', erased }
  return {
    ...forEachOperation((operation) => (item: unknown) => {
      return redactItem(OPERATIONS[operation].record, withoutTooDeep(item), redaction)
    }),
    text: (text) =>
      erased === null || typeof text !== 'string' ? text : redactString(text, erased, false),
  }
}

/**
 * Inverts some bits of a digest, and restores them when it is applied again; none if everything is stored. The first number
 * changes with what redact.ts leaves out, so that every response is read again.
 */
function maskOf({ privacyEmail, privacyRaw, privacyExclude }: PrivacyPolicy): Rules['sealed'] {
  const policy = `2: email ${privacyEmail}, raw ${privacyRaw}`
  const masks = forEachOperation((operation): Buffer | null => {
    const own = splitPaths(privacyExclude ?? '').filter(
      (path) => readMemberPath(path)?.object === OPERATIONS[operation].record,
    )
    if (own.length === 0 && privacyEmail === 'keep' && privacyRaw === 'keep') return null
    const text = own.length === 0 ? policy : `${policy}, without ${own.join(' ')}`
    return createHash('sha256').update(text).digest()
  })
  return (operation, digest) => {
    const mask = masks[operation]
    return mask === null
      ? digest
      : Buffer.from(digest.map((byte, at) => byte ^ (mask[at] as number)))
  }
}
