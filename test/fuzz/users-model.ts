import type { ServiceResponse } from './response-model.ts'
import type { Outcome, Reject } from './comments-model.ts'
import { LIMITS, userOf } from './record-model.ts'
import type { ModelUser } from './record-model.ts'

/** `SYNC_SHRINK_LIMIT`: the removal of a larger share of a listing is held. */
const SHRINK_LIMIT = 0.5
const SMALL_LOSS = 10

export interface UsersOutcome extends Outcome {
  /** The received users, each with its possible rows; empty if nothing changed. */
  readonly sightings: readonly (readonly ModelUser[])[]
  readonly left: readonly string[]
}

/** One listing of users: of an organization, a document or a group. */
export class ListingModel {
  /** All users who were ever in the listing: true for current ones. */
  readonly members = new Map<string, boolean>()
  #known: string | null = null
  /** Most members after any response. All nights are within seven days, and no user decides a held removal. */
  #most = 0
  /** The users of the held removal, if it is held because of a loss. */
  #disputed: readonly string[] = []

  apply(answer: ServiceResponse): UsersOutcome {
    if (answer.kind === 'failed') return failedAs(answer)
    const rejects: Reject[] = []
    const records = new Map<string, ModelUser[]>()
    const evidence = new Set<string>()
    let nameless = 0
    let rejectedRecords = 0
    let isLacking = false
    const read = answer.items.map(userOf)
    read.forEach((each, index) => {
      const { start, end } = answer.items[index] as { start: number; end: number }
      const record = answer.text.slice(start, Math.min(end, start + LIMITS.recordCharacters))
      if ('fault' in each) {
        rejectedRecords += 1
        rejects.push({ reason: each.fault, record })
        isLacking = true
        if (each.id !== null) evidence.add(each.id)
        else if (!each.fault.startsWith('userId is longer')) nameless += 1
        return
      }
      for (const reason of each.reasons) rejects.push({ reason, record })
      const { userId } = each.record
      const twins = records.get(userId)
      records.set(userId, [...(twins ?? []), each.record])
      if (twins === undefined) return
      if (twins.some((twin) => JSON.stringify(twin) !== JSON.stringify(each.record)))
        isLacking = true
      rejectedRecords += 1
      rejects.push({ reason: `userId ${JSON.stringify(userId)} is in the response twice`, record })
    })
    if (rejects.length > LIMITS.rejectedRecords)
      return failedAs({ httpStatus: 200, errorStatus: 'too_many_rejected' })
    const content = JSON.stringify(
      [...records.values()].map((twins) => twins.map((twin) => JSON.stringify(twin)).sort()).sort(),
    )
    const isClean = rejects.length === 0
    if (isClean && content === this.#known) return { ...GOOD, sightings: [], left: [] }
    const missing = this.#missing(records, evidence)
    const isLoss = this.#isLoss(missing, records)
    const mayLackUsers = answer.paged || nameless > 0
    const isHeld = isLoss || (mayLackUsers && missing.length > 0)
    const left = isHeld ? [] : missing
    for (const id of left) this.members.set(id, false)
    for (const id of records.keys()) this.members.set(id, true)
    this.#most = Math.max(this.#most, this.#size())
    this.#disputed = isLoss ? missing : []
    this.#known = isClean && !isHeld ? content : null
    return {
      status: isHeld ? 'held' : 'good',
      failure: null,
      rejects,
      rejectedRecords,
      isLacking,
      sightings: [...records.values()],
      left,
    }
  }

  /** Whether the listing lacks so many users that the removal is held. */
  #isLoss(missing: readonly string[], records: ReadonlyMap<string, unknown>): boolean {
    if (missing.length === 0) return false
    const before = this.#size()
    const joined = [...records.keys()].filter((id) => this.members.get(id) !== true).length
    return (
      missing.length === before ||
      isLarge(missing.length, before) ||
      isLarge(this.#most - (before + joined - missing.length), this.#most) ||
      this.#disputed.some((id) => missing.includes(id))
    )
  }

  #size(): number {
    return [...this.members.values()].filter(Boolean).length
  }

  #missing(records: ReadonlyMap<string, unknown>, evidence: ReadonlySet<string>): string[] {
    return [...this.members]
      .filter(([id, isIn]) => isIn && !records.has(id) && !evidence.has(id))
      .map(([id]) => id)
  }
}

function isLarge(lost: number, of: number): boolean {
  return lost > SMALL_LOSS && lost > of * SHRINK_LIMIT
}

const GOOD = {
  status: 'good',
  failure: null,
  rejects: [],
  rejectedRecords: 0,
  isLacking: false,
} as const

function failedAs({ httpStatus, errorStatus }: NonNullable<Outcome['failure']>): UsersOutcome {
  return {
    ...GOOD,
    status: 'failed',
    failure: { httpStatus, errorStatus },
    sightings: [],
    left: [],
  }
}
