import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import { readResponse } from '../../src/core/service/response.ts'
import type { CallTarget } from '../../src/core/service/errors.ts'
import { canonicalJson } from '../../src/core/sync/record/digest.ts'

const target: CallTarget = { operation: 'comments', filter: { organizationId: 'o' }, secrets: [] }

/** Values that look like records, or like what is between them, at any depth. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(0, 1, null, '', 'é', '},{"id":', '[{"id":1', '}]', ']'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.tuple(tie('value'), tie('value')).map(([id, x]) => ({ id, x })),
    tie('value').map((id) => ({ id })),
    tie('value').map((x) => ({ x, id: 1 })),
  ),
}))
const record = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.nat({ max: 3 }), value).map(([id, x]) => ({ id, x })) },
  { weight: 1, arbitrary: value },
)
const data = fc.array(record, { maxLength: 5 })

const bodyOf = (dataText: string, end: string) => `{"result":{"data":${dataText}${end}`

/** Another body of much the same text: its records in another order, or its pieces. */
function exchanged(text: string, seed: number): string {
  const cuts = ['},{"id":', ',', '{"id":', '[', '}']
  const cut = cuts[seed % cuts.length] as string
  const pieces = text.split(cut)
  const [one, other] = [seed % pieces.length, (seed >> 4) % pieces.length]
  const [a, b] = [pieces[one] as string, pieces[other] as string]
  return pieces.map((piece, at) => (at === one ? b : at === other ? a : piece)).join(cut)
}

function contentOf(text: string): string {
  const body = JSON.parse(text) as { result: { data: unknown[] } }
  const records = body.result.data.map(canonicalJson).sort()
  return canonicalJson({ ...body, result: { ...body.result, data: records } })
}

function answerTo(text: string, known?: Buffer) {
  try {
    return readResponse(
      { httpStatus: 200, retryAfterMs: null, body: Buffer.from(text) },
      target,
      known,
    )
  } catch (error) {
    if (error instanceof CallError) return null
    throw error
  }
}

test('of a million pairs of bodies no two with different records are taken for equal', () => {
  let unchanged = 0
  const runs = 1_000_000
  const ends = fc.constantFrom('}}', ',"more":[1]}}', '},"x":[{"id":1}]}')
  fc.assert(
    fc.property(data, ends, fc.nat(), fc.boolean(), (records, end, seed, isWhole) => {
      const text = bodyOf(JSON.stringify(records), end)
      const other = isWhole
        ? bodyOf(JSON.stringify(records.toSorted(() => (seed % 3) - 1)), end)
        : exchanged(text, seed)
      const answer = answerTo(text)
      if (answer === null || answerTo(other, answer.digest)?.status !== 'unchanged') return
      if (other !== text) unchanged += 1
      expect(contentOf(other)).toBe(contentOf(text))
    }),
    { numRuns: runs },
  )
  // Else the bodies would be no test.
  expect(unchanged).toBeGreaterThan(runs / 100)
})
