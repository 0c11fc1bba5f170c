import { readdir } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { rolledBack } from '../../src/core/database/pool.ts'
import { readDictionary } from '../../src/features/export/dictionary/dictionary.ts'
import type { Relation } from '../../src/features/export/dictionary/dictionary.ts'
import { dictionaryDbt } from './dictionary-print.ts'
import { fileText, yamlDocuments } from '../deploy/yaml-files.ts'
import { fillComments } from '../export/fill-comments.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

const FOLDER = 'sql/dbt'
const MODELS = `${FOLDER}/models`
type YamlTest = string | Record<string, any>

/** A source or model, and what dbt would test of it. */
interface Tested {
  readonly name: string
  readonly from: string
  readonly tests: readonly { column: string | null; test: YamlTest }[]
}

let models: Map<string, string>
let tested: Tested[]

/** What dbt makes of a model that has just sources in it. @throws for what it would have to be asked for */
function compile(text: string): string {
  const sql = text.replace(/\{\{ source\('(\w+)', '(\w+)'\) \}\}/g, '"$1"."$2"')
  if (/[{}]/.test(sql)) throw new Error(`cannot be compiled here: ${text}`)
  return sql
}

async function readModels(): Promise<Map<string, string>> {
  const names = (await readdir(MODELS)).filter((name) => name.endsWith('.sql'))
  return new Map(names.map((name) => [name.slice(0, -4), compile(fileText(`${MODELS}/${name}`))]))
}

function testsOf(name: string, from: string, { tests = [], columns = [] }: any): Tested {
  return {
    name,
    from,
    tests: [
      ...tests.map((test: YamlTest) => ({ column: null, test })),
      ...columns.flatMap((column: any) =>
        (column.tests ?? []).map((test: YamlTest) => ({ column: column.name, test })),
      ),
    ],
  }
}

/** The rows that fail, as dbt counts them. */
function failing(from: string, column: string | null, test: YamlTest): string {
  if (test === 'not_null') return `select 1 from ${from} where ${column} is null`
  if (test === 'unique')
    return `select ${column} from ${from} where ${column} is not null group by 1 having count(*) > 1`
  const [[name = '', given] = []] = Object.entries(test as Record<string, any>)
  if (name === 'relationships') {
    const [, schema, table] = /^source\('(\w+)', '(\w+)'\)$/.exec(given.to) ?? []
    return `select 1 from ${from} f left join ${schema}.${table} t on t.${given.field} = f.${column}
      where f.${column} is not null and t.${given.field} is null`
  }
  if (name === 'collab_sync.unique_combination_of_columns') {
    const columns = given.combination_of_columns.join(', ')
    return `select ${columns} from ${from} group by ${columns} having count(*) > 1`
  }
  throw new Error(`There is no test ${name}.`)
}

test('sources and staging models are what the database says (made again by: npm run generate)', async () => {
  const { pool } = await createTestDatabase()
  const dictionary = await readDictionary(pool)
  const views = dictionary.relations.filter(
    ({ schema, kind }) => schema === 'collab' && kind === 'view',
  )
  const place = (name: string) => `../../${MODELS}/${name}`
  await expect(dictionaryDbt(dictionary, 93_600)).toMatchFileSnapshot(place('sources.yml'))
  await expect(stagingYaml(views)).toMatchFileSnapshot(place('staging.yml'))
  for (const { name } of views)
    await expect(`select * from {{ source('collab', '${name}') }}\n`).toMatchFileSnapshot(
      place(`stg_collab__${name}.sql`),
    )
})

describe('the dbt package', () => {
  let server: TestDatabase
  beforeAll(async () => {
    server = await createTestDatabase()
    await fillComments(server, 300)
    await server.pool.query(`insert into collab_store.users
      (organization_key, source, listed, first_seen_at, changed_at, digest, user_id)
      select organization_key, 3, true, now(), now(), '\\x00', 'u' || n
      from collab_store.organizations, generate_series(1, 5) n`)
    models = await readModels()
    tested = [
      ...yamlDocuments(`${MODELS}/sources.yml`)[0].sources.flatMap(({ schema, tables }: any) =>
        tables.map((table: any) => testsOf(table.name, `${schema}.${table.name}`, table)),
      ),
      ...yamlDocuments(`${MODELS}/staging.yml`)[0].models.map((model: any) =>
        testsOf(model.name, `dbt.${model.name}`, model),
      ),
    ]
  })

  test('each model is built, has the rows of its source, and passes its tests, as each source does', async () => {
    await rolledBack(server.pool, async (client) => {
      await client.query('create schema dbt')
      for (const [name, sql] of models) await client.query(`create view dbt.${name} as ${sql}`)
      for (const name of models.keys()) {
        const view = name.replace('stg_collab__', 'collab.')
        const { rows } = await client.query(
          `select (select count(*) from dbt.${name}) = (select count(*) from ${view}) as is_equal`,
        )
        expect([name, rows[0].is_equal]).toEqual([name, true])
      }
      expect(tested.filter(({ from }) => from.startsWith('dbt.')).map(({ name }) => name)).toEqual(
        [...models.keys()].toSorted(),
      )
      let count = 0
      for (const { name, from, tests } of tested) {
        for (const { column, test: each } of tests) {
          count += 1
          const { rowCount } = await client.query(failing(from, column, each))
          expect([name, column, each, rowCount]).toEqual([name, column, each, 0])
        }
      }
      expect(count).toBeGreaterThan(50)
    })
  })
})

function stagingYaml(views: readonly Relation[]): string {
  const lines = ['# Generated by `npm run generate`; not to be edited.', 'version: 2', 'models:']
  for (const { name, comment, key } of views) {
    const unique = `collab_sync.unique_combination_of_columns: { combination_of_columns: [${key.join(', ')}] }`
    lines.push(
      `  - name: stg_collab__${name}`,
      `    description: ${JSON.stringify(comment)}`,
      `    tests: [${key.length > 1 ? unique : ''}]`,
    )
    if (key.length === 1)
      lines.push('    columns:', `      - name: ${key[0]}`, '        tests: [unique, not_null]')
  }
  return `${lines.join('\n')}\n`
}

test('what exposures depend on is there', () => {
  const [sources] = yamlDocuments(`${MODELS}/sources.yml`)
  const there = new Set([
    ...sources.sources.flatMap(({ name, tables }: any) =>
      tables.map((table: any) => `source('${name}', '${table.name}')`),
    ),
    ...yamlDocuments(`${MODELS}/staging.yml`)[0].models.map(({ name }: any) => `ref('${name}')`),
  ])
  const [{ exposures }] = yamlDocuments(`${MODELS}/exposures.yml`) as [any]
  const named = exposures.flatMap((exposure: any) => exposure.depends_on)
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name: string) => !there.has(name))).toEqual([])
  const [project] = yamlDocuments(`${FOLDER}/dbt_project.yml`)
  expect(project).toMatchObject({ name: 'collab_sync', 'model-paths': ['models'] })
})
