import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'
import { copyOf, readExportObjects } from '../../src/features/export/rows.ts'
import type { CopyObject } from '../../src/features/export/rows.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { countFromZero, countUp } from '../changes/killed-follower.ts'
import type { Writing } from '../changes/killed-follower.ts'

/** By what a warehouse knows a row again: of people by `person`, as their id goes when they are erased. */
const KEYS: Readonly<Record<CopyObject['changed'], readonly string[]>> = {
  organization: ['organization_id'],
  document: ['organization_id', 'document_id'],
  annotation: ['organization_id', 'document_id', 'annotation_id'],
  user_group: ['organization_id', 'organization_user_group_id'],
  user: ['organization_id', 'person'],
  document_user: ['organization_id', 'document_id', 'person'],
  user_group_member: ['organization_id', 'organization_user_group_id', 'person'],
  comment: ['organization_id', 'document_id', 'annotation_id', 'comment_id'],
}

/** Tables in a DuckDB of its own, which know of what is exported and of nothing else. */
export class Warehouse {
  readonly #connection: DuckDBConnection
  readonly #loaded = new Set<string>()

  static async open(): Promise<Warehouse> {
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
    return new Warehouse(await instance.connect())
  }

  private constructor(connection: DuckDBConnection) {
    this.#connection = connection
  }

  /** As docs/OPERATING.md says: a MERGE, which fails where a row comes twice. @param file in Parquet */
  async load({ name, changed }: CopyObject, file: string): Promise<void> {
    const exported = `read_parquet('${file}')`
    if (!this.#loaded.has(name)) {
      await this.#connection.run(
        `create or replace table ${name} as select * from ${exported} limit 0`,
      )
      this.#loaded.add(name)
    }
    await this.#connection.run(`
      merge into ${name} using ${exported} as changed using (${KEYS[changed].join(', ')})
      when matched and changed.is_gone then delete
      when matched then update by name
      when not matched and not changed.is_gone then insert by name`)
  }

  /** Each row as a list of texts, times in microseconds. */
  async rows({ name, columns }: CopyObject): Promise<string[]> {
    const texts = valuesOf(columns).map(({ name: column, type }) =>
      type === 'timestamp with time zone' ? `epoch_us(${column})::text` : `${column}::text`,
    )
    const reader = await this.#connection.runAndReadAll(`select ${texts.join(', ')} from ${name}`)
    return reader.getRowsJson().map((row) => JSON.stringify(row))
  }

  close(): void {
    this.#connection.closeSync()
  }
}

/** All that a copy may be kept of. */
export async function readCopies(database: Database): Promise<CopyObject[]> {
  return (await readExportObjects(database)).flatMap((object) => copyOf(object) ?? [])
}

/** The first rows that only the warehouse has, and that only the table has: none of either where they are equal. */
export async function differences(warehouse: Warehouse, database: Database, copy: CopyObject) {
  const texts = valuesOf(copy.columns).map(({ name, type }) => {
    const isOfUser = name === 'person' && copy.changed !== 'user'
    const column = isOfUser ? 'u.person' : `v.${name}`
    return type === 'timestamp with time zone'
      ? `(extract(epoch from ${column}) * 1000000)::bigint::text`
      : `${column}::text`
  })
  const users = 'left join collab.users u using (organization_id, user_id)'
  const join = copy.columns.some(({ name }) => name === 'user_id') ? users : ''
  const { rows } = await database.query({
    text: `select ${texts.join(', ')} from collab.${copy.name} v ${join}`,
    rowMode: 'array',
  })
  const [stored, loaded] = [rows.map((row) => JSON.stringify(row)), await warehouse.rows(copy)]
  const [inTable, inWarehouse] = [new Set(stored), new Set(loaded)]
  return {
    onlyInWarehouse: loaded.filter((row) => !inTable.has(row)).slice(0, 3),
    onlyInTable: stored.filter((row) => !inWarehouse.has(row)).slice(0, 3),
  }
}

export const NO_DIFFERENCES = { onlyInWarehouse: [], onlyInTable: [] }

function valuesOf(columns: CopyObject['columns']): CopyObject['columns'] {
  return columns.filter(({ name }) => name !== 'is_gone')
}

/** What came of exports that were killed. */
export interface Exported {
  readonly warehouse: Warehouse
  readonly comments: CopyObject
  readonly kills: number
  /** How many exports were loaded. */
  readonly loads: number
  /** How many times a comment was written meanwhile. */
  readonly written: number
}

/**
 * Has writers change comments as followKilled, while `collab-sync export --state` is killed at random and repeated, until the
 * writers have written enough and the warehouse is equal to the table.
 * @param directory for the state file and what is exported
 * @param start starts the command with such arguments
 */
export async function exportKilled(
  database: Database,
  writing: Writing & { readonly atLeast: number; readonly directory: string },
  start: (args: string[]) => ChildProcess,
): Promise<Exported> {
  const { kills: killsMin, atLeast, directory } = writing
  const warehouse = await Warehouse.open()
  const comments = (await readCopies(database)).find(({ changed }) => changed === 'comment')!
  const [out, state] = [join(directory, 'comments.parquet'), join(directory, 'comments.state')]
  const args = ['export', 'comments', '--format', 'parquet', '--out', out, '--state', state]
  await countFromZero(database)
  let [kills, loads, tookMs, hasEnded] = [0, 0, 0, false]
  const writers = countUp(database, writing, (each) => kills >= killsMin && each >= atLeast)
  void writers.finally(() => void (hasEnded = true))
  for (;;) {
    const isLast = hasEnded
    const startedAtMs = performance.now()
    const child = start(args)
    const ended = once(child, 'close')
    let said = ''
    child.stderr?.on('data', (text) => (said += String(text)))
    // The first ones to their end: how long one takes is known then.
    if (!isLast && loads > 1 && Math.random() < 0.6) {
      await Promise.race([ended, sleep(Math.random() * 1.2 * tookMs)])
      child.kill('SIGKILL')
    }
    const [code] = await ended
    if (code === null) {
      kills += 1
      continue
    }
    // One that was killed with nothing left to do: its file is whole, and the next one says so.
    const wasWhole = code === 2 && said.includes('of the export before is still there: load it')
    if (code !== 0 && !wasWhole) throw new Error(`export ended with ${code}: ${said}`)
    if (!wasWhole) tookMs = performance.now() - startedAtMs
    await warehouse.load(comments, out)
    await rm(out)
    loads += 1
    const { onlyInTable, onlyInWarehouse } = await differences(warehouse, database, comments)
    if (isLast && onlyInTable.length === 0 && onlyInWarehouse.length === 0) break
  }
  return { warehouse, comments, kills, loads, written: await writers }
}
