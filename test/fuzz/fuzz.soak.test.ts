import { expect, inject, test } from 'vitest'
import { Fuzzer } from './fuzz.ts'
import { databasePrefix } from '../helpers/database.ts'

/** Three batches of annotations in the first organization alone. */
const LAYOUT = { organizations: 2, documents: 12, annotations: 25, groups: 3 }
const NIGHTS = 3

test('whatever the service answers, the tables are what the model says', async () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  console.log(`fuzz seed: ${seed}; the same again with FUZZ_SEED=${seed}`)
  const fuzzer = await Fuzzer.open(inject('postgresUrl'), LAYOUT, databasePrefix())
  try {
    await fuzzer.generation(seed, NIGHTS)
    const { differences, endlessRuns, workerDied } = fuzzer.findings
    // Which case it was is told by `npm run fuzz -- --seed`, smaller.
    expect(differences.map(({ night, key, says }) => `night ${night} ${key}: ${says}`)).toEqual([])
    expect({ endlessRuns, workerDied }).toEqual({ endlessRuns: 0, workerDied: 0 })
  } finally {
    await fuzzer.close()
  }
})
