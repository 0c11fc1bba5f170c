import { migrate as migrateTables } from '../../core/database/migrate.ts'
import type { Derived } from '../../core/database/written.ts'
import { count, counted } from '../../documents/format.ts'
import { migrateQueue } from '../../core/queue/backend.ts'
import { readSettings } from '../../settings/settings.ts'
import type { Settings } from '../../settings/table.ts'
import { openStore } from '../../worker/store.ts'
import { EXIT } from '../exit.ts'
import { note, print, printJson, progressNotes } from '../output.ts'
import { undoneOnSignal } from '../signals.ts'
import { quietLog } from '../with-store.ts'

/** `collab-sync migrate`: creates or upgrades the tables and the queue's own schema. */
export async function migrate({ json }: { json?: boolean }): Promise<number> {
  const settings = readSettings(process.env, { need: ['database', 'queue'] })
  return undoneOnSignal((signal) => migrateAll(settings, signal, json))
}

async function migrateAll(
  settings: Settings,
  signal: AbortSignal,
  json: boolean | undefined,
): Promise<number> {
  const log = quietLog(settings)
  const store = await openStore(settings, { log, applicationName: 'migrate', say: note, signal })
  try {
    const { databaseUrl, queuePlace } = store
    const onDerived = progressNotes(describeProgress)
    const { applied, readerRole, derived } = await migrateTables(databaseUrl, settings, {
      onDerived,
      signal,
    })
    await migrateQueue(queuePlace, signal)
    const queue = queuePlace.kind
    if (json) {
      printJson({ applied, readerRole, queue, derived })
      return EXIT.done
    }
    print(
      applied.length === 0
        ? 'The tables are up to date.'
        : `The tables are up to date: ${counted(applied.length, 'migration')} applied (${applied.join(', ')}).`,
    )
    if (derived !== null && derived.comments > 0) print(describeDerived(derived))
    print(
      queue === 'redis'
        ? 'The queue is kept in Redis, where there is nothing to prepare.'
        : 'The queue is kept in PostgreSQL; its schema is up to date.',
    )
    if (!readerRole.granted) {
      print(
        `\nThis role may not create or grant the role collab_reader, which may read collab and reporting and nothing else. Have an administrator run:\n\n${readerRole.statements}`,
      )
    }
    return EXIT.done
  } finally {
    await store.close()
  }
}

function describeDerived({ writtenMember, reportTimeZone, comments, changed }: Derived): string {
  const by = `COMMENT_WRITTEN_MEMBER ${writtenMember === null ? 'not set' : `= ${writtenMember}`} and REPORT_TZ = ${reportTimeZone}`
  const found = `When stored comments were written was computed again, by ${by}: ${count(changed)} of ${count(comments)} changed.`
  if (changed === 0) return found
  return `${found} Their changed_at stays, so \`export --since\` does not contain them: export without it once. \`changes\` and \`export --state\` or \`--after\` contain each of them.`
}

function describeProgress(done: number, all: number, changed: number): string {
  return `When comments were written: ${count(done)} of about ${count(all)} looked at, ${count(changed)} changed`
}
