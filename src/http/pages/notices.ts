import { counted } from '../../schemas/format.ts'

/** The sentences about finished actions. An address can choose one of them and its counts, but no other text. */
const NOTICES = {
  'run-started': () => 'The run is requested. A worker starts it; this page shows its progress.',
  'run-stored': () => 'The run is stored. A worker starts it when the queue is available again.',
  'run-known': () => 'This run was requested before. No other run is started.',
  'run-cancelled': () =>
    'The cancellation was requested. No further calls are made; data already written is kept.',
  'held-refused': (kept: number, listings: number, left: number) =>
    decided(`The removal is refused: ${counted(kept, 'person')} kept in`, listings, left),
  'held-accepted': (removed: number, listings: number, left: number) =>
    decided(`The removal is accepted: ${counted(removed, 'person')} removed from`, listings, left),
  'rejected-set-aside': (records: number) =>
    `${counted(records, 'record')} set aside: the same content makes no later run partial.`,
  hinted: (annotations: number) =>
    `The comments of ${counted(annotations, 'annotation')} are fetched next.`,
  added: () => 'The catalog lists it.',
  removed: () => 'The catalog does not list it any more. Its rows stay.',
  'token-removed': () => 'The token is removed.',
  'calls-paused': () => 'The calls are paused, in all processes within ten seconds.',
  'calls-resumed': () => 'The pause is over. Calls continue within ten seconds.',
  'pace-set': () => 'The pace is set, for all processes.',
  'pace-removed': () => 'The pace is removed.',
  'schedule-set': () => 'The nightly schedule is set, for all workers.',
  'schedule-removed': () => 'The nightly schedule is removed. No run starts by itself.',
} satisfies Record<string, (...counts: number[]) => string>

export type NoticeName = keyof typeof NOTICES

/** The address of a page that shows a notice. */
export function pathWithNotice(
  path: string,
  name: NoticeName,
  counts: readonly number[] = [],
): string {
  const query = new URLSearchParams({ done: name })
  if (counts.length > 0) query.set('counts', counts.join('.'))
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

/** The notice that an address names; null without a valid one, and for one that is past. */
export function noticeOf(query: unknown, past: readonly NoticeName[] = []): string | null {
  const { done, counts } = query as Record<string, unknown>
  if (typeof done !== 'string' || !Object.hasOwn(NOTICES, done)) return null
  if (past.includes(done as NoticeName)) return null
  const write: (...counts: number[]) => string = NOTICES[done as NoticeName]
  const numbers = typeof counts === 'string' ? counts.split('.').map(Number) : []
  const isComplete = numbers.length >= write.length
  return isComplete && numbers.every((n) => Number.isSafeInteger(n) && n >= 0)
    ? write(...numbers)
    : null
}

/** @param left listings without a decision: another decision or run came first, or the work stopped */
function decided(what: string, listings: number, left: number): string {
  const others = left === 0 ? '' : ` Not decided: ${counted(left, 'listing')}. Check again.`
  return `${what} ${counted(listings, 'listing')}.${others}`
}
