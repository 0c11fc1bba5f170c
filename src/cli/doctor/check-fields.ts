import { readMemberPath, splitPaths } from '../../base/member-path.ts'
import type { Database } from '../../core/database/pool.ts'
import * as observed from '../../core/database/statements/observed.ts'
import { warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Warns of paths of PRIVACY_EXCLUDE that no record had: they may be misspelt. Nothing is found before records were read. */
export async function checkExcluded(
  database: Database,
  { privacyExclude = '' }: { readonly privacyExclude?: string | undefined },
): Promise<Finding[]> {
  if (privacyExclude === '') return []
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
  if (unknown.length === 0) return []
  return [
    warn(
      'excluded fields',
      `PRIVACY_EXCLUDE has paths that no record had so far: ${unknown.join(' ')}`,
      'correct PRIVACY_EXCLUDE, then run collab-sync migrate; SELECT object, member FROM reporting.observed_members lists all paths',
    ),
  ]
}
