import { processUser } from '../../base/process-user.ts'
import { notePrune, prune } from '../../features/privacy/prune.ts'
import { count, time } from '../../schemas/format.ts'
import { facts, print, printJson, progressNotes } from '../output.ts'
import { withTables } from '../with-store.ts'

/** `collab-sync prune --older-than AGE`. */
export async function pruneCommand(options: {
  olderThan: number
  dryRun?: boolean
  json?: boolean
}): Promise<number> {
  const { dryRun: isDryRun = false, json } = options
  const before = new Date(Date.now() - options.olderThan)
  return withTables({ name: 'prune' }, async ({ database }) => {
    const onPruned = json
      ? undefined
      : progressNotes(
          (table: string, share: number, deleted: number) =>
            `${table}: ${Math.round(share * 100)} % checked, ${count(deleted)} ${isDryRun ? 'to delete' : 'deleted'}`,
        )
    const pruned = await prune(database, before, { isDryRun, ...(onPruned && { onPruned }) })
    if (!isDryRun) await notePrune(database, { by: processUser(), runId: null, before, pruned })
    if (json) return printJson({ before, isDryRun, ...pruned })
    print(`${isDryRun ? 'Would delete' : 'Deleted'} rows that ended before ${time(before)}:\n`)
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
