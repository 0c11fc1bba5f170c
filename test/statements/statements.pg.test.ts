import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { generateStatements } from './generate.ts'

/**
 * Holds the types of src/database/statements against the statements and tables as they are. `npm run statements` is this
 * test with `--update`: it writes them.
 */

const ROOT = resolve(import.meta.dirname, '../..')
const GENERATED = join(ROOT, 'src/database/statements')

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('the types of every statement are those that PostgreSQL says', async () => {
  const client = await database.pool.connect()
  try {
    const modules = await generateStatements(client, readStatements())
    for (const [noun, text] of modules)
      await expect(text).toMatchFileSnapshot(join(GENERATED, `${noun}.ts`))
    const left = readdirSync(GENERATED).filter((name) => !modules.has(basename(name, '.ts')))
    expect(left, 'generated for statements that are gone: remove them').toEqual([])
  } finally {
    client.release()
  }
})

function readStatements() {
  const folder = join(ROOT, 'sql/queries')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql'))
    .sort()
    .map((path) => {
      const [noun = '', verb = ''] = path.slice(0, -'.sql'.length).split('/')
      return { noun, verb, text: readFileSync(join(folder, path), 'utf8') }
    })
}
