import { isObject } from '../../base/json.ts'
import { readMemberPath, splitPaths } from '../../base/member-path.ts'
import { readWritten } from '../../base/timestamp.ts'
import type { Database } from '../../core/database/pool.ts'
import * as comments from '../../core/database/statements/comments.ts'
import * as observed from '../../core/database/statements/observed.ts'
import { leavingOut } from '../../features/privacy/leave-out.ts'
import { memberPath } from '../../settings/parse.ts'
import type { Settings } from '../../settings/table.ts'
import { warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Warns of paths of PRIVACY_EXCLUDE that no record had: they may be misspelt. Nothing is found before records were read. */
export async function checkExcluded(
  database: Database,
  { privacyExclude = '' }: Pick<Settings, 'privacyExclude'>,
): Promise<Finding | null> {
  if (privacyExclude === '') return null
  const known = await observed.read.all(database)
  const unknown = splitPaths(privacyExclude).filter((text) => {
    const { object, path } = readMemberPath(text) ?? { path: [] }
    const ofObject = known.filter((each) => each.object === object)
    const isKnown = ofObject.some(
      (each) =>
        each.path.length === path.length &&
        each.path.every((name, at) => name === path[at] || name === '*' || path[at] === '*'),
    )
    return ofObject.length > 0 && !isKnown
  })
  if (unknown.length === 0) return null
  return warn(
    'excluded fields',
    `PRIVACY_EXCLUDE has paths that no record had so far: ${unknown.join(' ')}`,
    'correct PRIVACY_EXCLUDE, then run collab-sync migrate; SELECT object, member FROM reporting.observed_members lists all paths',
  )
}

const SAMPLE = 200
/** Fewer comments show nothing. */
const SAMPLE_LEAST = 20
/** Of the sample, so many have the field. */
const NEARLY_ALL = 0.95
/** A small number is also a time. No service of this kind was older. */
const WRITTEN_SINCE = '2000'

/**
 * Suggests COMMENT_WRITTEN_MEMBER if it is not set and nearly all of the newest comments have a field with a time that is never
 * after lastUpdated, and before it in some. Fields that are not stored are not found.
 */
export async function checkWrittenMember(
  database: Database,
  settings: Pick<Settings, 'commentWrittenMember' | 'privacyRaw' | 'privacyExclude'>,
): Promise<Finding | null> {
  if (settings.commentWrittenMember !== undefined || settings.privacyRaw === 'drop') return null
  const sample = await comments.sampleFields.all(database, { limit: SAMPLE })
  if (sample.length < SAMPLE_LEAST) return null
  // Comments that were stored before the exclusion still have these fields.
  const leaveOut = leavingOut(settings.privacyExclude ?? null, 'comment') ?? ((record) => record)
  const found = new Map<string, { times: number; areEarlier: boolean }>()
  for (const { lastUpdated, rest } of sample) {
    const updatedAt = lastUpdated.toISOString()
    for (const [path, at] of timesIn(leaveOut(JSON.parse(rest ?? '{}')))) {
      if (at < WRITTEN_SINCE || at > updatedAt) continue
      const { times = 0, areEarlier = false } = found.get(path) ?? {}
      found.set(path, { times: times + 1, areEarlier: areEarlier || at < updatedAt })
    }
  }
  const paths = [...found]
    .filter(([, { times, areEarlier }]) => areEarlier && times >= NEARLY_ALL * sample.length)
    .map(([path]) => path)
  if (paths.length === 0) return null
  return warn(
    'written time',
    `COMMENT_WRITTEN_MEMBER is not set, and ${paths.join(', ')} may contain when a comment was written: nearly all of the newest ${sample.length} comments have a time there that is not after lastUpdated`,
    `if the field contains that time, add the line ${paths.map((path) => `COMMENT_WRITTEN_MEMBER=${path}`).join(' or ')} to .env for all processes, then run collab-sync migrate`,
  )
}

/** The times in a comment, by their paths as the setting has them. Those of its people are left out. */
function* timesIn(
  record: unknown,
  within: unknown = record,
  before = '',
): Generator<[path: string, at: string]> {
  if (!isObject(within)) return
  for (const name of Object.keys(within)) {
    const path = `${before}${name}`
    if (!memberPath.safeParse(path).success) continue
    const at = readWritten(record, path.split('.'))
    if (at === null) yield* timesIn(record, within[name], `${path}.`)
    else yield [path, at]
  }
}
