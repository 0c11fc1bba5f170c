import type { Scope } from '../../src/schemas/scope.ts'
import { Random, seedOf } from '../../src/demo/random.ts'
import type { StandInRequest } from '../../src/demo/operations.ts'
import type { FaultRule } from '../service/faults.ts'
import { differences } from './run-question.ts'
import { Copy } from './copy.ts'
import { Knowledge } from './knowledge.ts'
import { Life } from './life.ts'
import { keyOf } from './log.ts'
import type { Deed } from './log.ts'
import { untold } from './truth.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const ZONE = 'Europe/Berlin'
const MEMBER = 'createdAt'
/** The clock changes of this zone; worlds alternate between them. */
const CLOCK_CHANGES = [Date.parse('2026-03-29T00:00Z'), Date.parse('2026-10-25T00:00Z')]
/** Nights before the first prune, erasure or partial run. */
const QUIET_NIGHTS = 3

/**
 * Runs one random world, synced with and without COMMENT_WRITTEN_MEMBER. Compares the views with the responses of the calls,
 * and the responses with the world.
 * @param askEvery compares after every so many nights, and after the last
 * @returns what differed
 */
export async function liveWorld(
  seed: number,
  { nights, askEvery }: { nights: number; askEvery: number },
): Promise<string[]> {
  const random = new Random(seedOf(seed, nights))
  const change = CLOCK_CHANGES[seed % 2] as number
  const start = new Date(change - Math.floor(nights / 2) * DAY_MS + 8 * HOUR_MS)
  const life = new Life(seed, start)
  const looks = [MEMBER, null].map((member) => ({
    member,
    known: new Knowledge(member),
    learnt: 0,
  }))
  const copies = await Promise.all(
    looks.map(async ({ member }) =>
      Copy.open(life, start, {
        REPORT_TZ: ZONE,
        ...(member === null ? {} : { COMMENT_WRITTEN_MEMBER: member }),
      }),
    ),
  )
  const erased = new Set<string>()
  const found: string[] = []

  const each = async (work: (copy: Copy) => Promise<void>) => {
    await Promise.all(copies.map(work))
  }
  const compare = async (what: string, now: Date, isWhole: boolean) => {
    for (const [index, copy] of copies.entries()) {
      const check = looks[index] as (typeof looks)[number]
      for (const deed of copy.deeds.slice(check.learnt)) check.known.learn(deed)
      check.learnt = copy.deeds.length
      await copy.clock.stop(now)
      const asked = { known: check.known, now, zone: ZONE }
      const times = copy.deeds.flatMap(({ kind, at }) =>
        kind === 'run' || kind === 'erase' ? at : [],
      )
      const differing = [
        ...(await differences(copy.database, asked, times)),
        ...(isWhole ? untold(asked, life.world) : []),
        ...check.known.complaints.map(({ key, says }) => `${key}: ${says}`),
      ]
      const mode = check.member === null ? 'without the member' : 'with the member'
      found.push(...differing.map((one) => `seed ${seed}, ${what}, ${mode}: ${one}`))
    }
  }

  try {
    for (let night = 1; night <= nights; night++) {
      const noonMs = start.getTime() + (night - 1) * DAY_MS + 5 * HOUR_MS
      const at = (hours: number) => new Date(noonMs + hours * HOUR_MS)
      const isQuiet = night <= QUIET_NIGHTS
      life.liveUntil(at(0))
      if (!isQuiet && random.next() < 0.25) {
        const scope = narrowed(copies[0]?.deeds ?? [], life, random)
        const faults = random.next() < 0.3 ? breakage(random) : []
        await each((copy) => copy.run(at(0), faults, scope))
        if (random.next() < 0.3) await compare(`noon before night ${night}`, at(0.5), false)
      }
      if (!isQuiet && random.next() < 0.12) {
        const before = new Date(noonMs - (1 + random.below(20)) * DAY_MS)
        await each((copy) => copy.prune(at(1), before))
      }
      if (!isQuiet && random.next() < 0.1) {
        const somebody = life.anybody()
        const isImported = looks[0]?.known.scopes.has(keyOf({ organizationId: somebody.organizationId })) // prettier-ignore
        const organizationId = random.next() < 0.5 && isImported ? somebody.organizationId : null
        if (!erased.has(somebody.userId))
          await each((copy) => copy.erase(at(2), { ...somebody, organizationId }))
        erased.add(somebody.userId)
      }
      life.liveUntil(at(13))
      await each((copy) => copy.importCatalog(at(12.5)))
      // Sometimes a nightly run does not start.
      const isRun = isQuiet || random.next() < 0.95
      const faults = random.next() < 0.5 ? [] : breakage(random)
      if (isRun) await each((copy) => copy.run(at(13), faults))
      // A listing that lacks existing records cannot be distinguished from a correct one.
      const isLook = isRun && !faults.some(({ kind }) => kind === 'empty-list')
      if (night % askEvery === 0 || night === nights)
        await compare(`night ${night}`, at(13.5), isLook)
      if (found.length > 0) break
    }
  } finally {
    for (const copy of copies) await copy.close()
  }
  return found
}

/** A part of the catalog as it was last imported. */
function narrowed(deeds: readonly Deed[], { world }: Life, random: Random): Scope {
  const lines = deeds.findLast((deed) => deed.kind === 'catalog')?.lines ?? []
  const place = random.pick(lines.filter((line) => 'annotationId' in line))
  const { organizationId, documentId, annotationId } = place
  const groups = lines.filter((line) => 'organizationUserGroupId' in line)
  const organizationIds = [organizationId]
  const [comment] = world.comments(place) ?? []
  return random.pick<Scope>([
    { organizationIds },
    { operations: [random.pick(['users', 'comments'] as const)] },
    { organizationIds, documentId },
    { organizationIds, documentId, annotationId },
    { organizationIds, documentId, annotationId, ...(comment && { commentIds: [comment.commentId] }) }, // prettier-ignore
    ...groups.map((group) => ({
      organizationIds: [group.organizationId],
      organizationUserGroupIds: [group.organizationUserGroupId],
    })),
  ])
}

/** The faults of one night. The bodies of calls decide which calls fail, so that the same calls fail for both instances. */
function breakage(random: Random): FaultRule[] {
  const seed = random.below(2 ** 31)
  const some =
    (share: number, of: (request: StandInRequest) => boolean = () => true) =>
    (request: StandInRequest) =>
      of(request) && new Random(seedOf(seed, ...Buffer.from(request.body))).next() < share
  const isListing = ({ data }: StandInRequest) => !('commentIds' in data)
  return random.pick<FaultRule[]>([
    [{ kind: 'forbidden', match: some(0.05) }],
    [{ kind: 'not-found', match: some(0.1) }],
    [{ kind: 'connection-reset', match: some(0.1) }],
    [
      { kind: 'cut-body', match: some(0.1) },
      { kind: 'truncated-json', match: some(0.1) },
      { kind: 'no-data', match: some(0.1) },
    ],
    [{ kind: 'server-error-html', match: some(0.5) }],
    [{ kind: 'wrong-length' }],
    // Comments that a listing lacks are requested by ID.
    [{ kind: 'empty-list', match: some(0.3, (one) => one.operation === 'comments' && isListing(one)) }], // prettier-ignore
    [{ kind: 'custom', respond: () => {}, match: some(1), times: 1 }],
    [{ kind: 'unavailable' }],
    [{ kind: 'unauthenticated' }],
  ])
}
