import { setTimeout } from 'node:timers/promises'
import { parse, stringify } from 'lossless-json'
import { erasing, findTexts, lockTexts, lookThrough, rewriteTexts } from './rows.ts'
import type { ErasedCounts, ErasePlace, TextTable } from './rows.ts'
import type { Client, Database } from '../../../core/database/pool.ts'
import { redactRow } from '../redact.ts'
import { piecesOf } from './erase-record.ts'
import type { Person } from './person.ts'

const ROWS_A_PIECE = 200
/** Until a row that somebody else has locked is looked at again. */
const LOCKED_WAIT_MS = 100

/** What rows of a table are counted as; of others as messages. */
const COUNTED_AS: Readonly<Record<string, keyof ErasedCounts>> = {
  'collab_store.comment_versions': 'commentVersions',
  'collab_store.user_versions': 'userVersions',
  'sync.rejected_records': 'rejectedRecords',
  'sync.held': 'held',
  'sync.runs': 'scopes',
}

/**
 * Takes the person out of every other row of a table. Rows are locked without waiting for anybody, piece by piece; what
 * moved or was locked meanwhile is looked for again, until there is none.
 */
export async function eraseTexts(
  database: Database,
  table: TextTable,
  { organizationId, organizationKeys }: ErasePlace,
  person: Person,
  count: (client: Client, counts: Partial<ErasedCounts>) => Promise<void>,
): Promise<void> {
  const keys = organizationId === null ? null : organizationKeys
  for (;;) {
    const found = await lookThrough(database, (client) =>
      findTexts(client, table, person.search, keys),
    )
    let seen = 0
    for (const piece of piecesOf(
      found,
      ROWS_A_PIECE,
      () => null,
      ({ units }) => units,
    )) {
      seen += await erasing(database, async (client) => {
        const rows = await lockTexts(
          client,
          table,
          piece.map(({ tid }) => tid),
        )
        const changed = rows.flatMap(({ tid, texts }) => {
          const row = parse(texts) as Record<string, unknown>
          const redacted = stringify(redactRow(row, person.redaction)) as string
          return redacted === stringify(row) ? [] : [{ tid, texts: redacted }]
        })
        await rewriteTexts(client, table, changed)
        await count(client, { [COUNTED_AS[table.relation] ?? 'messages']: changed.length })
        return rows.length
      })
    }
    if (seen === found.length) return
    await setTimeout(LOCKED_WAIT_MS)
  }
}
