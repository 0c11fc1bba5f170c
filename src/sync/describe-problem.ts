import type { FailureCause } from '../database/runs.ts'
import type { RowOf } from '../database/statement.ts'
import type { wholeOfRun } from '../database/statements/rejected.ts'

/** Whole records that a run rejected and nobody has set aside, and the commonest reason. */
type LostRecords = RowOf<typeof wholeOfRun>

/** Causes named one by one; a person reads no more. */
const CAUSES_NAMED = 3

/** Codes that say an operation is not to be had at all. */
const GATE_STATUSES = new Set([400, 403, 404, 405, 409, 410, 422, 501])

/** Each operation is for one series of the service's client SDK (service-api.md, Versioning). */
const GATES: Readonly<Record<FailureCause['operation'], string>> = {
  users: 'Get Users is for client SDK v3 or earlier',
  comments:
    'Get Comments needs client SDK v4 and the advanced queries option of the service console',
}

/**
 * What went wrong in a run, in a sentence or some for a person; null where nothing did.
 * @param held listings whose removals wait for a person
 * @param lost whole records that were rejected
 */
export function describeProblem(
  causes: readonly FailureCause[],
  held: number,
  lost: LostRecords,
): string | null {
  const sentences = [describeFailures(causes), describeHeld(held), describeLost(lost)].filter(
    (each) => each !== null,
  )
  return sentences.length === 0 ? null : sentences.join(' ')
}

function describeHeld(held: number): string | null {
  if (held === 0) return null
  const listings = held === 1 ? '1 listing of users' : `${held} listings of users`
  return `${listings} lost so many at once that nobody was removed: look, then accept it with \`collab-sync accept\`.`
}

function describeLost({ records, scopes, reason }: LostRecords): string | null {
  if (records === 0) return null
  const what = records === 1 ? '1 whole record was' : `${records} whole records were`
  const where = scopes === 1 ? '1 scope' : `${scopes} scopes`
  const why = records === 1 ? reason : `mostly: ${reason}`
  return `${what} rejected in ${where} (${why}): look with \`collab-sync rejected\`, then have them mended at the service, or set them aside with \`collab-sync rejected set-aside\`.`
}

function describeFailures(causes: readonly FailureCause[]): string | null {
  const [first] = causes
  if (first === undefined) return null
  const failed = causes.reduce((sum, { scopes }) => sum + scopes, 0)
  const named = causes.slice(0, CAUSES_NAMED).map(describeCause)
  const more =
    causes.length > CAUSES_NAMED ? `; and ${causes.length - CAUSES_NAMED} other causes` : ''
  return `${failed} ${failed === 1 ? 'scope' : 'scopes'} failed: ${named.join('; ')}${more}.${likelyGate(first)}`
}

function describeCause(cause: FailureCause): string {
  const { operation, httpStatus, errorStatus, scopes, organizations } = cause
  const where = organizations > 1 ? ` in ${organizations} organizations` : ''
  if (errorStatus === 'breaker_open')
    return `${scopes} of ${operation}${where} not asked, after such failures`
  const code = [httpStatus, errorStatus].filter((part) => part !== null).join(' ') || 'no answer'
  return `${scopes} of ${operation} with ${code}${where}`
}

function likelyGate({ operation, httpStatus, organizations }: FailureCause): string {
  if (organizations < 2 || httpStatus === null || !GATE_STATUSES.has(httpStatus)) return ''
  return ` If that operation fails everywhere: ${GATES[operation]}; SYNC_OPERATIONS can leave it out.`
}
