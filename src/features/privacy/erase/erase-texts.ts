import { setTimeout } from 'node:timers/promises'
import { parse, stringify } from 'lossless-json'
import type { Client, Database } from '../../../core/database/pool.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import type { textColumns } from '../../../core/database/statements/erase.ts'
import { redactRow } from '../redact.ts'
import type { Person } from './person.ts'
import { chunksOf, erasing, reading } from './rows.ts'
import type { ErasedCounts, ErasePlace } from './rows.ts'

const ROWS_A_CHUNK = 200
/** Delay before rows that another transaction has locked are tried again. */
const LOCKED_WAIT_MS = 100

/** The count of `sync.erasures` for rows of a table; `messages` for all other tables. */
const COUNTED_AS: Readonly<Record<string, keyof ErasedCounts>> = {
  'collab_store.comment_versions': 'commentVersions',
  'collab_store.past_memberships': 'memberships',
  'collab_store.user_versions': 'userVersions',
  'sync.rejected_records': 'rejectedRecords',
  'sync.held': 'held',
  'sync.runs': 'scopes',
}

/**
 * Removes the person from every row of a table. Rows are locked without waiting, chunk by chunk. Rows that moved or were
 * locked meanwhile are searched for again until there are none.
 */
export async function eraseTexts(
  database: Database,
  { relation, find, lock, rewrite }: RowOf<typeof textColumns>,
  place: ErasePlace,
  { search, redaction }: Person,
  count: (client: Client, counts: Partial<ErasedCounts>) => Promise<void>,
): Promise<void> {
  const keys = place.organizationId === null ? null : place.organizationKeys
  for (;;) {
    const found = await reading(database, place, (client) =>
      client.query<{ tid: string; units: number }>(find, [search.patterns, keys, search.userId]),
    )
    let seen = 0
    for (const chunk of chunksOf(found.rows, ROWS_A_CHUNK)) {
      seen += await erasing(database, async (client) => {
        const { rows } = await client.query<{ tid: string; texts: string }>(lock, [
          chunk.map(({ tid }) => tid),
        ])
        const changed = rows.flatMap(({ tid, texts }) => {
          const row = parse(texts) as Record<string, unknown>
          const redacted = stringify(redactRow(row, redaction))
          return redacted === stringify(row) ? [] : [`{"tid":"${tid}","texts":${redacted}}`]
        })
        if (changed.length > 0) await client.query(rewrite, [`[${changed.join()}]`])
        await count(client, { [COUNTED_AS[relation] ?? 'messages']: changed.length })
        return rows.length
      })
    }
    if (seen === found.rows.length) return
    await setTimeout(LOCKED_WAIT_MS)
  }
}
