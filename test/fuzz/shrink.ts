import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Fuzzer } from './fuzz.ts'
import type { Found } from './fuzz.ts'
import { annotationCase, listingCase } from './generate.ts'
import type { ScopeCase } from './generate.ts'

/** One scope of each kind. */
const ALONE = { organizations: 1, documents: 1, annotations: 1, groups: 1 }
const TIME_MS = 60_000

/**
 * The smallest case that still differs where its scope is alone in a database, in words; or the file with the case as it
 * was, where it takes others to differ.
 */
export async function shrunk(found: Found, nights: number): Promise<string> {
  if (found.scopeCase === null || found.index === null) return 'It is of no scope alone.'
  const isAnnotation = found.key.startsWith('comments/')
  const key = isAnnotation ? 'comments/o0/d0-0/a0-0-0/' : 'users/o0/d0-0//'
  const fuzzer = await Fuzzer.open(ALONE)
  try {
    const property = fc.asyncProperty(
      isAnnotation ? annotationCase(nights) : listingCase(nights),
      async (scopeCase: ScopeCase) => {
        const before = fuzzer.findings.differences.length
        await fuzzer.run(new Map([[key, scopeCase]]), nights, found.seed)
        const difference = fuzzer.findings.differences[before]
        if (difference !== undefined) throw new Error(difference.says)
      },
    )
    const result = await fc.check(property, {
      seed: found.seed,
      path: String(found.index),
      interruptAfterTimeLimit: TIME_MS,
    })
    if (result.counterexample === null) return kept(found)
    return `Shrunk ${result.numShrinks} times: ${JSON.stringify(result.counterexample)}\n${String(result.errorInstance)}`
  } finally {
    await fuzzer.close()
  }
}

function kept(found: Found): string {
  const file = join(mkdtempSync(join(tmpdir(), 'collab-sync-fuzz-')), 'case.json')
  writeFileSync(file, JSON.stringify(found, null, 2))
  return `It does not differ alone; its case as it was: ${file}`
}
