import { createHash } from 'node:crypto'
import type { Database } from '../database/pool.ts'
import * as stored from '../database/statements/privacy.ts'
import type { StoredEmails } from '../database/users.ts'
import type { Operation } from '../errors.ts'
import { withoutTooDeep } from './json.ts'
import { erasedIn, hashEmail } from './people.ts'
import type { ErasedPeople, Erasure } from './people.ts'
import { redactMessage } from './redact-members.ts'
import { redactComment, redactUser } from './redact.ts'
import type { Redaction } from './redact.ts'

/** The settings `PRIVACY_EMAIL` and `PRIVACY_RAW`. */
export interface PrivacyPolicy {
  readonly email: StoredEmails
  readonly raw: 'keep' | 'drop'
}

/** What may be stored of answers about one organization. */
export interface Privacy {
  /** Null where everything may be stored: then there is nothing to do. */
  readonly redact:
    | (Readonly<Record<Operation, (item: unknown) => unknown>> & {
        /** A message of the service. */
        readonly text: <T>(text: T) => T | string
      })
    | null
  /**
   * What is stored as the digest of an answer's bytes, and back: under another policy the same bytes are no longer the
   * same, so that the next run looks at every answer again.
   */
  sealed(bodyDigest: Buffer): Buffer
}

/** The privacy of one process. */
export interface PrivacyKeeper {
  readonly emails: StoredEmails
  /**
   * @param lastErasure the newest row of `sync.erasures` that the caller saw (`lastErasure` of a claim); null to look
   * @returns what may be stored; the database is asked only when that row is another one than before
   */
  of(organizationId: string, lastErasure: number | null): Promise<Privacy>
}

/** Nothing is read before it is needed: with everything kept and nobody erased, never. */
export function openPrivacy(database: Database, policy: PrivacyPolicy): PrivacyKeeper {
  const mask = maskOf(policy)
  let salt: Buffer | undefined
  let known: { last: number; erasures: readonly Erasure[] } = { last: 0, erasures: [] }
  let people = new Map<string, ErasedPeople | null>()
  return {
    emails: policy.email,
    async of(organizationId, lastErasure) {
      if (lastErasure !== known.last) {
        const erasures = await stored.erasures.all(database)
        const last = erasures.at(-1)?.erasureId ?? 0
        if (last !== known.last) people = new Map()
        known = { last, erasures }
      }
      const isPlain = policy.email === 'keep' && policy.raw === 'keep'
      if (known.erasures.length === 0 && isPlain) return { redact: null, sealed: mask }
      salt ??= (await stored.salt.one(database)).salt
      if (!people.has(organizationId)) {
        people.set(organizationId, erasedIn(salt, known.erasures, organizationId))
      }
      const erased = people.get(organizationId) ?? null
      if (erased === null && isPlain) return { redact: null, sealed: mask }
      const redaction = redactionOf(policy, salt, erased)
      return {
        redact: {
          users: (item) => redactUser(withoutTooDeep(item), redaction),
          comments: (item) => redactComment(withoutTooDeep(item), redaction),
          text: (text) => redactMessage(text, redaction),
        },
        sealed: mask,
      }
    },
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
