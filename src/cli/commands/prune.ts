import { prune } from '../../features/privacy/prune.ts'
import { count, time } from '../../schemas/format.ts'
import { facts, print, printJson, progressNotes } from '../output.ts'
import { withTables } from '../with-store.ts'

/** `collab-sync prune --older-than AGE`. */
export async function pruneCommand(options: {
  olderThan: number
  json?: boolean
}): Promise<number> {
  const before = new Date(Date.now() - options.olderThan)
  return withTables({ name: 'prune' }, async ({ database }) => {
    const onProgress = options.json ? undefined : progressNotes(describeProgress)
    const pruned = await prune(database, before, onProgress)
    if (options.json) return printJson({ before, ...pruned })
    print(`Deleted rows that ended before ${time(before)}:\n`)
    print(
      facts([
        ['versions of comments', count(pruned.commentVersions)],
        ['versions of people', count(pruned.userVersions)],
        ['past memberships', count(pruned.pastMemberships)],
        ['rows of the feed of changes', count(pruned.changes)],
        ['imports of the catalog', count(pruned.catalogImports)],
        ['runs', count(pruned.runs)],
        ['failures', count(pruned.failures)],
        ['rejected records', count(pruned.rejectedRecords)],
        ['actions of users', count(pruned.actions)],
      ]),
    )
  })
}

function describeProgress(table: string, share: number, deleted: number): string {
  return `${table}: ${Math.round(share * 100)} % checked, ${count(deleted)} deleted`
}
