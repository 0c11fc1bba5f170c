import { generatedUser } from './people.ts'
import type { PeoplePlan } from './people.ts'
import { Random, seedOf } from './random.ts'

// Separate these random numbers from those of people and comments, which stay the same without these fields.
const MORE_FIELDS = 5
const INTERNAL_ID = 6

/**
 * Invented fields of a comment: mentions, read times and drafts. docs/SERVICE.md does not name them, so they are only in
 * `raw`; docs/MORE_FIELDS.md reads them.
 * @param of.path indices of the organization, document, annotation and comment
 * @param of.members indices of the users of the document
 */
export function moreFields(
  plan: PeoplePlan,
  of: { path: readonly [number, ...number[]]; members: readonly number[]; lastUpdated: string },
): Record<string, unknown> {
  const { path, members, lastUpdated } = of
  const random = new Random(seedOf(plan.seed, MORE_FIELDS, ...path))
  const some = (most: number) => {
    // Squared, so that a few users are named most.
    const drawn = Array.from(
      { length: 1 + random.below(most) },
      () => members[Math.floor(random.next() ** 2 * members.length)],
    )
    return [...new Set(drawn)]
      .filter((index) => index !== undefined)
      .map((index) => generatedUser(plan, path[0], index))
  }
  const kind = random.next()
  if (kind < 0.1) return { mentions: some(2).map(({ userId, name }) => ({ userId, name })) }
  if (kind < 0.15)
    return { readBy: Object.fromEntries(some(3).map(({ userId }) => [userId, lastUpdated])) }
  return kind < 0.16 ? { isDraft: true } : {}
}

/** An ID that the service uses internally: no catalog has it. */
export function internalOrganizationId({ seed }: PeoplePlan, organization: number): string {
  return seedOf(seed, INTERNAL_ID, organization).toString(16)
}
