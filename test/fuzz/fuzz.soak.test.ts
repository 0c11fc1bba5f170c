import { expect, test } from 'vitest'
import { Fuzzer } from './fuzz.ts'
import { LARGE_LIMITS, SMALL_LIMITS } from './limits.ts'

/** Three batches of annotations in the first organization alone. */
const LAYOUT = { organizations: 2, documents: 12, annotations: 25, groups: 3 }
const NIGHTS = 3
/** So long as `npm run fuzz -- --minutes` asks for, with large limits too; one generation without it. */
const MINUTES = Number(process.env['FUZZ_MINUTES'] ?? 0)
/** Differences of a generation whose case is printed. */
const PRINTED_MAX = 3

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
      const { met, differences: _, ...counts } = findings
      console.table([...met].sort().map(([what, times]) => ({ met: what.slice(0, 90), times })))
      console.table([counts])
    }
    for (const { key, scopeCase } of differences.slice(0, PRINTED_MAX))
      console.log(`${key}: ${JSON.stringify(scopeCase)?.slice(0, 20_000)}`)
    expect(differences.map(({ night, key, says }) => `night ${night} ${key}: ${says}`)).toEqual([])
    const { endlessRuns, workerDied } = findings
    expect({ endlessRuns, workerDied }).toEqual({ endlessRuns: 0, workerDied: 0 })
  } finally {
    await fuzzer.close()
  }
}, 86_400_000)
