import { expect, test } from 'vitest'
import { Fuzzer } from './fuzz.ts'
import { LARGE_LIMITS, SMALL_LIMITS } from './limits.ts'
import { shrunk } from './shrink.ts'

/** Three batches of annotations in the first organization alone. */
const LAYOUT = { organizations: 2, documents: 12, annotations: 25, groups: 3 }
const NIGHTS = 3
/** So long as `npm run fuzz -- --minutes` asks for, with large limits too; one generation without it. */
const MINUTES = Number(process.env['FUZZ_MINUTES'] ?? 0)
/** Differences of a generation that are shrunk, which takes a minute each. */
const SHRUNK_MAX = 3

test('whatever the service answers, the tables are what the model says', async () => {
  let seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const limits = MINUTES > 0 ? [...SMALL_LIMITS, ...LARGE_LIMITS] : SMALL_LIMITS
  const endMs = performance.now() + MINUTES * 60_000
  const fuzzer = await Fuzzer.open(LAYOUT)
  const { findings } = fuzzer
  const { differences } = findings
  try {
    do {
      console.log(`fuzz seed: ${seed}; the same again with FUZZ_SEED=${seed}`)
      await fuzzer.generation(seed++, NIGHTS, limits)
    } while (performance.now() < endMs && differences.length === 0)
    if (MINUTES > 0) {
      for (const found of differences.slice(0, SHRUNK_MAX))
        console.log(`${found.key}: ${found.says}\n${await shrunk(found, NIGHTS)}`)
      const { met, differences: _, ...counts } = findings
      console.table([...met].sort().map(([what, times]) => ({ met: what.slice(0, 90), times })))
      console.table([counts])
    }
    // Which case it was is shown by `npm run fuzz -- --minutes 1 --seed N`, smaller.
    expect(differences.map(({ night, key, says }) => `night ${night} ${key}: ${says}`)).toEqual([])
    const { endlessRuns, workerDied } = findings
    expect({ endlessRuns, workerDied }).toEqual({ endlessRuns: 0, workerDied: 0 })
  } finally {
    await fuzzer.close()
  }
}, 86_400_000)
