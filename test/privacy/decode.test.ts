import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decoded, layersOf } from '../../src/features/privacy/decode.ts'

const hex = (code: number) => code.toString(16)
const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${hex(byte).padStart(2, '0')}`).join('')

describe('an encoded text', () => {
  test.each([
    ['%41%62', 'Ab'],
    ['%7e%7F', '~\x7f'],
    ['%c3%a9', 'é'],
    ['%E2%82%AC', '€'],
    ['%f0%9f%98%80', '😀'],
    ['&#x41;&#X0041;', 'AA'],
    ['&#x1F600;', '😀'],
    ['&#65;&#065', 'AA'],
    ['&#x40y', '@y'],
    ['&#x10ffff;', '\u{10ffff}'],
    ['\\u0041\\u00E9', 'Aé'],
    ['\\b\\f\\n\\r\\t', '\b\f\n\r\t'],
    ['\\"\\\\\\/', '"/'],
    ['\0a\0\0b\0', 'ab'],
    ['a%40b&commat;c&#64;d\\u0040', 'a@b@c@d@'],
  ])('%s is %s', (text, plain) => {
    expect(decoded(text)).toBe(plain)
  })

  test.each([
    [
      'Tab NewLine nbsp excl quot num dollar percnt amp apos lpar rpar ast',
      '\t\n\u00a0!"#$%&\'()*',
    ],
    ['midast plus comma period sol colon semi lt equals gt quest commat', '*+,./:;<=>?@'],
    ['lsqb lbrack bsol rsqb rbrack Hat lowbar UnderBar grave lcub lbrace', '[[\\]]^__`{{'],
    ['verbar vert rcub rbrace hyphen dash', '||}}--'],
  ])('knows the names %s', (names, characters) => {
    for (const [index, name] of names.split(' ').entries()) {
      // Each by itself: side by side some make another encoding.
      for (const written of [`&${name};`, `&${name.toLowerCase()};`, `&${name.toUpperCase()};`])
        expect([...layersOf(written)][1]?.text).toBe(characters[index])
    }
  })

  test.each([
    'plain',
    '',
    'a@b',
    '%',
    '%4',
    '%4g',
    '%zz',
    '%c3',
    '%ff',
    '%80',
    '%f8%80%80%80',
    '&',
    '&;',
    '&#;',
    '&#x;',
    '&#0;',
    '&#x0;',
    '&#x110000;',
    '&#1114112;',
    '&nosuch;',
    '&a;',
    '\\',
    '\\x',
    '\\u004',
    '\\u00zz',
    '%ed%a0%80',
    '%f4%90%80%80',
    '%e0%80%80',
  ])('%j is none', (text) => {
    expect([...layersOf(text)].map((layer) => layer.text)).toEqual([text])
  })

  test('is undone five times, and no further', () => {
    const times = (count: number) => `%${'25'.repeat(count - 1)}41`
    expect([1, 2, 5].map((count) => decoded(times(count)))).toEqual(['A', 'A', 'A'])
    expect(decoded(times(6))).toBe('%41')
    expect([...layersOf(times(3))].map(({ text }) => text)).toEqual([
      '%252541',
      '%2541',
      '%41',
      'A',
    ])
  })
})

test('every character of a layer is told by where it is written', () => {
  const ways = [
    (character: string) => character,
    percent,
    (character: string) => `&#${character.codePointAt(0)};`,
    (character: string) => `&#x${hex(character.codePointAt(0) ?? 0)};`,
  ]
  const piece = fc.tuple(
    fc.constantFrom('a', 'B', '7', '@', 'é', '€', '😀', ' '),
    fc.constantFrom(...ways),
  )
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1 }), fc.boolean(), (pieces, isTwice) => {
      const written = pieces.map(([character, way]) => way(character))
      const text = isTwice ? percent(written.join('')) : written.join('')
      const last = [...layersOf(text)].at(-1)
      const plain = pieces.map(([character]) => character).join('')
      expect(last?.text).toBe(plain)
      let at = 0
      let from = 0
      for (const [index, [character]] of pieces.entries()) {
        const length = written[index]?.length ?? 0
        const end = from + (isTwice ? percent(written[index] ?? '').length : length)
        expect(last?.range(at, at + character.length)).toEqual([from, end])
        at += character.length
        from = end
      }
    }),
  )
})
