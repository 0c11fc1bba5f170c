import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openCollabSync } from '../../src/client/open-collab-sync.ts'
import { EnvironmentError } from '../../src/base/errors.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8').trim()
const EXAMPLE = read('test/client/example.ts')

describe('the example', () => {
  test('is what the docstring shows', () => {
    const source = read('src/client/open-collab-sync.ts')
    expect(blocksOf(source.replaceAll(/^ \* ?/gm, ''))).toEqual([EXAMPLE])
  })

  test('is what docs/PROGRAMS.md shows, which programs.soak runs', () => {
    const shown = blocksOf(read('docs/PROGRAMS.md'))
    expect(shown).toContain(EXAMPLE)
  })
})

describe('opening', () => {
  test('says where PostgreSQL or Redis is away, without a password', async () => {
    const away = openCollabSync({
      environment: { DATABASE_URL: 'postgres://someone:hunter2@127.0.0.1:1/nothing' },
    })
    await expect(away).rejects.toThrow(EnvironmentError)
    await expect(away).rejects.toThrow(/^PostgreSQL at 127\.0\.0\.1:1, database nothing: nothing/)
    await expect(away).rejects.not.toThrow('hunter2')
  })

  test('says that the tables are missing, and that the queue is away', async () => {
    const database = await createEmptyDatabase()
    const environment = { DATABASE_URL: database.url, REDIS_URL: 'redis://127.0.0.1:1' }
    await expect(openCollabSync({ environment })).rejects.toThrow(/no tables of collab-sync yet/)
    const live = await openLive('postgres')
    const queueAway = { ...environment, DATABASE_URL: live.database.url }
    await expect(openCollabSync({ environment: queueAway })).rejects.toThrow(EnvironmentError)
    await expect(openCollabSync({ environment: queueAway })).rejects.toThrow(
      /^Redis cannot be used/,
    )
  })
})

/** TypeScript blocks of a text in Markdown. */
function blocksOf(text: string): string[] {
  return [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block = '']) => block.trim())
}
