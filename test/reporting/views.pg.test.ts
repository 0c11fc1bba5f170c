import { expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import { views } from '../worlds/views.ts'
import { liveWorld } from '../worlds/worlds.ts'

/** Seeds whose worlds have what may be counted wrong: failures, departures and returns in both. */
const WORLDS = [
  { seed: 6, nights: 4 },
  { seed: 7, nights: 6 },
]

test.each(WORLDS)(
  'every number of every view is what plain counting finds: seed $seed',
  async ({ seed, nights }) => {
    const found = await liveWorld(seed, { nights, askEvery: nights })
    expect(found.slice(0, 5).join('\n\n')).toBe('')
  },
)

test('no view of reporting is left out', async () => {
  const { rows: read } = await createTestDatabase()
  const rows = await read(
    `select relname from pg_class where relnamespace = 'reporting'::regnamespace and relkind = 'v'`,
  )
  // They have tests of their own.
  const others = 'attention days nightly observed_members runs run_failures settings'.split(' ')
  const names = rows.map(({ relname }) => relname).filter((name) => !others.includes(name))
  expect(Object.keys(views)).toEqual(
    expect.arrayContaining(names.map((name) => `reporting.${name}`)),
  )
})
