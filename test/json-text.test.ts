import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutBelow, valuesIn } from '../src/base/json-text.ts'

const texts = (text: string) =>
  valuesIn(text).map(({ name, start, end }) => [name, text.slice(start, end)])

/** JSON with blanks wherever they may be. */
function spaced(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

describe('the values within a JSON text', () => {
  test.each([
    [' [ ] ', []],
    ['{\n}', []],
    [
      '{ "\\u0061\\"" : "x:y" , "":null, "":{"b":[2]}}',
      [
        ['a"', ' "x:y" '],
        ['', 'null'],
        ['', '{"b":[2]}'],
      ],
    ],
    [
      '["\\\\", "\\\\\\"", [2, 3]]',
      [
        [null, '"\\\\"'],
        [null, ' "\\\\\\""'],
        [null, ' [2, 3]'],
      ],
    ],
  ])('of %s are %j', (text, values) => {
    expect(texts(text)).toEqual(values)
  })

  test('are those that a parser finds, whatever they are and however they are written', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.boolean(), (values, isSpaced) => {
        const text = isSpaced ? spaced(values) : JSON.stringify(values)
        expect(texts(text).map(([, each]) => JSON.parse(each as string))).toEqual(JSON.parse(text))
        const object = Object.fromEntries(values.map((value, index) => [`"${index}\\`, value]))
        const found = texts(isSpaced ? spaced(object) : JSON.stringify(object))
        expect(found.map(([name, each]) => [name, JSON.parse(each as string)])).toEqual(
          Object.entries(JSON.parse(JSON.stringify(object)) as object),
        )
      }),
    )
  })

  test('are found at any depth', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(valuesIn(deep)).toEqual([{ name: null, start: 1, end: 199_999 }])
  })
})

describe('a text that is cut below a depth', () => {
  test.each([
    ['[1,[2,[3,{"a":[4]}]],5]', 2, '[1,[2,[]],5]'],
    ['{"a":{"b":1},"c":{"d":2}}', 1, '{"a":{},"c":{}}'],
    ['["[[[",[" ]\\"[ "]]', 1, '["[[[",[]]'],
  ])('%s at %d is %s', (text, depthMax, cut) => {
    expect(cutBelow(text, depthMax)).toBe(cut)
  })

  test('has no container below it, and is as it was where it had none', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
        : 0
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 6 }), (value, max) => {
        const text = JSON.stringify(value)
        const cut = cutBelow(text, max)
        expect(depthOf(JSON.parse(cut))).toBeLessThanOrEqual(max + 1)
        if (depthOf(value) <= max) expect(cut).toBe(text)
      }),
    )
  })
})
