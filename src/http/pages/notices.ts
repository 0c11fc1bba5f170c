import { counted } from '../../documents/format.ts'

/** What an action did, said on the page that comes after it. */
export interface Notice {
  readonly tone: 'good' | 'info'
  readonly sentence: string
}

/** The fixed vocabulary: an address can choose among these sentences and fill in counts, nothing else. */
const NOTICES = {
  'run-started': () => good('The run is asked for. Workers take it up; this page follows it.'),
  'run-stored': () =>
    info(
      'The run is asked for. The queue cannot be reached: a worker takes the run up once it can.',
    ),
  'run-known': () => info('This run was asked for before; nothing new was started.'),
  'run-cancelled': () =>
    good('The run ends: nothing further is asked for, and what is stored stays.'),
  'held-refused': (kept: number, listings: number, left: number) =>
    decided(`The removal is refused: ${counted(kept, 'user')} kept in`, listings, left),
  'held-accepted': (removed: number, listings: number, left: number) =>
    decided(`The removal is accepted: ${counted(removed, 'user')} left`, listings, left),
  'rejected-set-aside': (records: number) =>
    good(`${counted(records, 'record')} set aside: the same content makes no later run partial.`),
  hinted: (annotations: number) =>
    good(`The comments of ${counted(annotations, 'annotation')} are fetched next.`),
  added: () => good('It is in the catalog.'),
  removed: () => good('It is not in the catalog any more. Its rows stay.'),
  'schedule-set': () => good('The nightly schedule is set, for all workers.'),
  'schedule-removed': () => good('The nightly schedule is removed: no run starts by itself.'),
} satisfies Record<string, (...counts: number[]) => Notice>

export type NoticeName = keyof typeof NOTICES

/** The address of a page that says what an action did. */
export function pathWithNotice(
  path: string,
  name: NoticeName,
  counts: readonly number[] = [],
): string {
  const query = new URLSearchParams({ done: name })
  if (counts.length > 0) query.set('counts', counts.join('.'))
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

/** The notice that an address asks for; null where it asks for none of ours. */
export function noticeOf(query: unknown): Notice | null {
  const { done, counts } = query as Record<string, unknown>
  if (typeof done !== 'string' || !Object.hasOwn(NOTICES, done)) return null
  const write: (...counts: number[]) => Notice = NOTICES[done as NoticeName]
  const numbers = typeof counts === 'string' ? counts.split('.').map(Number) : []
  const isComplete = numbers.length >= write.length
  return isComplete && numbers.every((n) => Number.isSafeInteger(n) && n >= 0)
    ? write(...numbers)
    : null
}

/** @param left listings that were not decided: another decision or run came first, or the work stopped half way */
function decided(what: string, listings: number, left: number): Notice {
  const where = listings === 1 ? 'the listing' : counted(listings, 'listing')
  if (left === 0) return good(`${what} ${where}.`)
  return info(`${what} ${where}. Not decided: ${counted(left, 'listing')}. Look again.`)
}

function good(sentence: string): Notice {
  return { tone: 'good', sentence }
}

function info(sentence: string): Notice {
  return { tone: 'info', sentence }
}
