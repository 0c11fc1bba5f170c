import type pg from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import { describeStatement } from '../statements/describe.ts'
import { readHead } from '../statements/head.ts'
import { readStatements } from '../statements/statement-files.ts'
import type { StatementFile } from '../statements/statement-files.ts'
import { MANY_SCOPES } from './plans-tables.ts'
import { TABLES } from './tables.ts'

/**
 * Reads the plans of all statements at 100,000 scopes, so that nothing that people look at, and nothing that workers repeat,
 * becomes slower with the catalog unnoticed. A plan shows views, and SQL functions that PostgreSQL inlines. It does not show what
 * other functions and triggers do, and a loop over all organizations that probes an index for each is no scan.
 */

/** `batches` has a row for 256 scopes, and is read in full by all totals. */
const LARGE = Object.keys(TABLES).filter((name) => TABLES[name]?.isLarge)
const GROWING = new Set(LARGE.map((name) => name.replace(/^\w+\./, '')))

/** Indexes that contain only rows that wait for somebody, so that reading all of them is what a statement is for. */
const OPEN = new Set(
  (
    'annotations_not_in_catalog annotations_own_check failures_unresolved failures_unresolved_of_organization ' +
    'listings_own_check pending_items rejected_records_in_place'
  ).split(' '),
)

/** Folders whose statements work through everything, once in a while and not for a person who waits. */
const LEFT_OUT = new Set('catalog demo erase export prune reports restored written'.split(' '))
/** The statements of these folders that pages and new runs use. */
const NOT_LEFT_OUT = new Set(['catalog/list', 'catalog/missing-from-scope'])

/** Statements that may scan a table, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'catalog/missing-from-scope user_groups':
    'A run of user groups without their organization. Their IDs are unique in an organization only. PostgreSQL 18 may skip through the index.',
  'items/count-scopes user_groups': 'As catalog/missing-from-scope.',
  'items/plan-scopes user_groups': 'As catalog/missing-from-scope.',
  'refresh/delays comment_versions':
    'Changes of the last days in all organizations. Few comments change.',
  'observed/estimate users': 'Runs once, when migrate stores another PRIVACY_EXCLUDE.',

  'refresh/any-hints hints': 'As refresh/take-hints, up to the first of them.',
  'refresh/seed annotations': 'Runs once, when continuous refresh is switched on.',
  'refresh/take-hints hints':
    'Contains only threads that a program reported and no worker has polled since.',
  'scopes/last-successful documents': 'Runs once, when the service refuses key or token.',
  'scopes/last-successful listings': 'As its documents.',
  'scopes/last-successful user_groups': 'As its documents.',
  'things/life rejected_records':
    'The index of an organization contains only those still received, and a page shows all. Few records are rejected.',
  'things/search annotations':
    'A part of an ID or a name may be anywhere. The caller searches until its time limit.',
  'things/search-annotations documents':
    'Probes the annotations of each document: an index of their IDs makes an import slower by half.',
  'things/search-comments documents':
    'Probes the annotations of each document, until the time limit of the caller.',
}

/** Values that decide what a plan contains, by the name of the parameter. For all others, the type decides the value. */
const VALUES: Readonly<Record<string, string>> = { kind: 'annotation' }

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly Plans?: readonly Plan[]
}

const database = await createTestDatabase()

test('no statement of a page, a check, a poll or a claim scans a table that grows with scopes', async () => {
  const client = await database.pool.connect()
  try {
    await client.query(MANY_SCOPES)
    const empty = await client.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class where oid = any($1::regclass[]) and reltuples <= 0`,
      [LARGE],
    )
    expect(empty.rows, 'large tables without rows in plans-tables.ts').toEqual([])
    const tableOf = await readIndexes(client)
    const types = await readTypeNames(client)
    const scans = new Map<string, Set<string>>()
    for (const file of readStatements().filter(isInScope))
      for (const [given, plan] of await readPlans(client, file, types))
        for (const [table, how] of scansOf(plan, tableOf)) {
          const name = `${file.noun}/${file.verb} ${table}`
          scans.set(name, (scans.get(name) ?? new Set()).add(`${how} with ${given}`))
        }
    const unexpected = [...scans].filter(([name]) => !(name in EXCEPTIONS))
    const listed = unexpected.map(([name, ways]) => `${name}: ${[...ways].join(', ')}`)
    expect(listed, 'scans without a reason in EXCEPTIONS').toEqual([])
  } finally {
    client.release()
  }
})

function isInScope({ noun, verb, text }: StatementFile): boolean {
  const hasPlan = /^(select|with|insert|update|delete|\()/m.test(text)
  return hasPlan && (!LEFT_OUT.has(noun) || NOT_LEFT_OUT.has(`${noun}/${verb}`))
}

/**
 * The plans of a statement: with all parameters, without the optional ones, with each optional one alone, and, where it is
 * prepared, the one for any values.
 */
async function readPlans(
  client: pg.ClientBase,
  { noun, verb, text }: StatementFile,
  types: ReadonlyMap<number, string>,
): Promise<[given: string, plan: Plan][]> {
  const { parameters, isPrepared } = readHead(text)
  try {
    const { parameterTypes } = await describeStatement(client, text)
    const all = parameters.map(
      ({ name }, index) =>
        VALUES[name] ?? valueOf(types.get(parameterTypes[index] as number) ?? ''),
    )
    const plans: [string, Plan][] = [['all parameters', await explain(client, text, all)]]
    const optional = parameters.filter(({ mayBeNull }) => mayBeNull)
    for (const alone of optional.length === 0 ? [] : [undefined, ...optional]) {
      const some = all.map((value, index) => {
        const parameter = parameters[index]
        return parameter?.mayBeNull === true && parameter !== alone ? null : value
      })
      plans.push([alone?.name ?? 'no optional parameter', await explain(client, text, some)])
    }
    if (isPrepared && all.length > 0) {
      await client.query(`prepare prepared as ${text}`)
      const nulls = all.map(() => 'null').join()
      plans.push(['any values', await explain(client, `execute prepared (${nulls})`)])
      await client.query('deallocate prepared')
    }
    return plans
  } catch (error) {
    throw new Error(`sql/queries/${noun}/${verb}.sql: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

async function explain(
  client: pg.ClientBase,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Plan> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (format json) ${statement}`,
    [...values],
  )
  const [row] = rows as [(typeof rows)[0]]
  return row['QUERY PLAN'][0].Plan
}

/**
 * The growing tables that a plan reads from beginning to end.
 * @param toLimit whether what is above reads rows one after the other, and only until it has enough
 */
function* scansOf(
  plan: Plan,
  tableOf: ReadonlyMap<string, string>,
  toLimit = false,
): Generator<[table: string, how: string]> {
  const { 'Node Type': node, 'Index Name': index = '', Filter: filter } = plan
  const table = plan['Relation Name'] ?? tableOf.get(index) ?? ''
  const isScan =
    node === 'Seq Scan' ||
    (/^(Bitmap )?Index/.test(node) &&
      plan['Index Cond'] === undefined &&
      !OPEN.has(index) &&
      !(toLimit && filter === undefined))
  if (isScan && GROWING.has(table)) yield [table, `${node} ${index}`.trim()]
  const passes = /^(Append|LockRows|Merge Append|ModifyTable|Nested Loop|Result|Subquery Scan)$/
  for (const each of plan.Plans ?? [])
    yield* scansOf(each, tableOf, node === 'Limit' || (toLimit && passes.test(node)))
}

async function readIndexes(client: pg.ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<{ indexname: string; tablename: string }>(
    `select indexname, tablename from pg_indexes where schemaname in ('collab_store', 'sync')`,
  )
  return new Map(rows.map(({ indexname, tablename }) => [indexname, tablename]))
}

async function readTypeNames(client: pg.ClientBase): Promise<Map<number, string>> {
  const { rows } = await client.query<{ oid: number; typname: string }>(
    'select oid, typname from pg_type',
  )
  return new Map(rows.map(({ oid, typname }) => [oid, typname]))
}

/** A value of a type; an array has as many elements as PostgreSQL expects of one that it does not know. */
function valueOf(type: string, number = 50): unknown {
  if (type.startsWith('_'))
    return Array.from({ length: 10 }, (_, index) => valueOf(type.slice(1), index + 1))
  if (/^(int[248]|numeric|oid|xid8)$/.test(type)) return number
  // Seconds: eleven days.
  if (type === 'float8') return 1_000_000
  if (/^(text|varchar|varbit)$/.test(type)) return number.toString(2)
  if (/^(timestamp(tz)?|date)$/.test(type)) return new Date()
  const value = { bool: true, bytea: Buffer.of(number), interval: '1 hour', uuid: NO_RUN }[type]
  if (value !== undefined) return value
  if (/^jsonb?$/.test(type)) return '{}'
  throw new Error(`has a parameter of type ${type}, for which the test has no value.`)
}
const NO_RUN = '00000000-0000-0000-0000-000000000000'
