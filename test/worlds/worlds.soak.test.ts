import { afterAll, expect, test } from 'vitest'
import { createEmptyDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { liveWorld } from './worlds.ts'

/** As many nights and worlds as `npm run worlds` asks for; else two short ones, one about each night of clock change. */
const NIGHTS = Number(process.env['WORLD_NIGHTS'] ?? 10)
const COUNT = Number(process.env['WORLDS'] ?? 2)
const FIRST_SEED = Number(process.env['WORLD_SEED'] ?? Math.floor(Math.random() * 2 ** 30))

const databases: TestDatabase[] = []
afterAll(async () => {
  for (const database of databases) await database.drop()
})

test.each(Array.from({ length: COUNT }, (_, index) => FIRST_SEED + index))(
  'each view has the rows that follow from the responses, seed %d',
  async (seed) => {
    console.log(`the world again with WORLD_SEED=${seed} WORLDS=1 WORLD_NIGHTS=${NIGHTS}`)
    const open = async () => {
      const database = await createEmptyDatabase(`encoding 'UTF8' locale 'C'`)
      databases.push(database)
      return database.url
    }
    const found = await liveWorld(seed, { nights: NIGHTS, askEvery: 4, open })
    expect(found.slice(0, 5).join('\n\n')).toBe('')
  },
)
