import { migrate as migrateTables } from '../../core/database/migrate.ts'
import type { PrivacyChange } from '../../core/database/definitions.ts'
import type { Migrated } from '../../core/database/migrate.ts'
import type { Derived } from '../../core/database/written.ts'
import { count, counted } from '../../schemas/format.ts'
import { migrateQueue } from '../../core/queue/backend.ts'
import type { QueuePlace } from '../../core/queue/backend.ts'
import { readSettings } from '../../settings/settings.ts'
import { openStore } from '../../worker/store.ts'
import { EXIT } from '../exit.ts'
import { note, print, printJson, progressNotes } from '../output.ts'
import { undoneOnSignal } from '../signals.ts'
import { quietLog } from '../with-store.ts'

/** `collab-sync migrate`: creates or upgrades the tables and the schema of the queue. */
export async function migrate({ json }: { json?: boolean }): Promise<number> {
  const settings = readSettings(process.env, { need: ['database', 'queue'] })
  await undoneOnSignal(async (signal) => {
    const log = quietLog(settings)
    const store = await openStore(settings, { log, applicationName: 'migrate', say: note, signal })
    try {
      const { databaseUrl, queuePlace } = store
      const onDerived = progressNotes(
        (done: number, all: number, changed: number) =>
          `Written times of comments: ${count(done)} of about ${count(all)} checked, ${count(changed)} changed`,
      )
      const migrated = await migrateTables(databaseUrl, settings, { onDerived, signal })
      await migrateQueue(queuePlace, signal)
      if (json) printJson({ ...migrated, queue: queuePlace.kind })
      else printMigrated(migrated, queuePlace.kind)
    } finally {
      await store.close()
    }
  })
  return EXIT.done
}

function printMigrated(migrated: Migrated, queue: QueuePlace['kind']): void {
  const { applied, readerRole, derived, privacy, rewritten } = migrated
  print(
    applied.length === 0
      ? 'The tables are up to date.'
      : `The tables are up to date: ${counted(applied.length, 'migration')} applied (${applied.join(', ')}).`,
  )
  if (derived !== null && derived.comments > 0) print(describeDerived(derived))
  for (const change of privacy) print(describePrivacy(change, rewritten))
  print(
    queue === 'redis'
      ? 'The queue is in Redis and needs no schema.'
      : 'The queue is in PostgreSQL. Its schema is up to date.',
  )
  if (!readerRole.granted)
    print(
      `\nThis role may not create or grant collab_reader, the role that can read only collab and reporting. Ask an administrator to execute:\n\n${readerRole.statements}`,
    )
}

function describeDerived({ writtenMember, reportTimeZone, comments, changed }: Derived): string {
  const by = `COMMENT_WRITTEN_MEMBER ${writtenMember === null ? 'not set' : `= ${writtenMember}`} and REPORT_TZ = ${reportTimeZone}`
  const found = `The written times of stored comments were computed again, with ${by}: ${count(changed)} of ${count(comments)} changed.`
  if (changed === 0) return found
  return `${found} Their changed_at is unchanged, so \`export --since\` omits them: export once without --since. \`changes\`, \`export --state\` and \`export --after\` include them.`
}

function describePrivacy(
  { setting, before, now }: PrivacyChange,
  rewritten: Migrated['rewritten'],
): string {
  const change = `${setting} was ${before ?? 'not set'} and is now ${now ?? 'not set'}: workers that are running use it too.`
  if (setting !== 'PRIVACY_EXCLUDE')
    return `${change} The next run writes the records that differ again.`
  const records = rewritten.map((of) => counted(of.records, of.object)).join(' and ')
  return `${change} The next run writes about ${records || 'no records'} again, estimated from reporting.observed_members.`
}
