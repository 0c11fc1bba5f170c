import { readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import { generateStatements } from './generate.ts'
import { QUERIES, readStatements } from './statement-files.ts'

/**
 * Holds the lists of columns in sql/queries against src/base/columns.ts, and the types of src/core/database/statements against the
 * statements and tables as they are. `npm run generate` is this test with `--update`: it writes them.
 */

const GENERATED = resolve(import.meta.dirname, '../../src/core/database/statements')

const database = await createTestDatabase()

test('the types of every statement are those that PostgreSQL says', async () => {
  const client = await database.pool.connect()
  try {
    const statements = readStatements()
    for (const { noun, verb, text } of statements)
      await expect(text).toMatchFileSnapshot(join(QUERIES, noun, `${verb}.sql`))
    const modules = await generateStatements(client, statements)
    for (const [noun, text] of modules)
      await expect(text).toMatchFileSnapshot(join(GENERATED, `${noun}.ts`))
    const left = readdirSync(GENERATED).filter((name) => !modules.has(basename(name, '.ts')))
    expect(left, 'generated for statements that are gone: remove them').toEqual([])
  } finally {
    client.release()
  }
})
