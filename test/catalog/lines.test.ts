import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJsonLine } from '../../src/features/catalog/lines.ts'

describe('a line of NDJSON', () => {
  test.each([
    { organizationId: 'acme' },
    { organizationId: 'acme', documentId: 'plan', documentName: 'x'.repeat(300) },
    { organizationId: 'acme', organizationName: ' Acme, "Söhne" <b>株式会社</b> 👩‍👩‍👧 \\ ' },
    { organizationId: 'acme', organizationUserGroupId: 'staff', organizationUserGroupName: '' },
    { organizationId: 'a', documentId: null, documentName: null, organizationUserGroupName: null },
  ])('%o is read as it is', (line) => {
    expect(parseJsonLine(JSON.stringify(line))).toEqual({ line })
  })

  test('an id keeps every character that is one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }), (id) => {
        fc.pre(!id.includes('\0'))
        const line = { organizationId: id, documentId: ` ${id}"'/\\\n` }
        expect(parseJsonLine(JSON.stringify(line))).toEqual({ line })
      }),
    )
  })

  test.each([
    ['{"organizationId":', /^is not JSON/],
    ['[{"organizationId":"a"}]', /^is an array: write one object a line$/],
    ['null', /^is not an object$/],
    ['{"documentId":"d"}', /^is wrong: organizationId is missing$/],
    ['{"organizationId":""}', /: organizationId must not be empty$/],
    ['{"organizationId":7}', /: organizationId must be a text$/],
    ['{"organizationId":"a","annotationId":"x"}', /: annotationId needs documentId$/],
    [
      '{"organizationId":"a","documentId":"d","organizationUserGroupId":"g"}',
      /organizationUserGroupId cannot be combined with documentId/,
    ],
    [
      '{"organizationId":"a","orgName":"A"}',
      /there is no member "orgName" \(known are organizationId, /,
    ],
    ['{"organizationId":"a\\u0000b"}', /organizationId must not hold a NUL/],
    ['{"organizationId":"a\\ud800b"}', /organizationId must be well-formed Unicode/],
    [
      `{"organizationId":"${'ü'.repeat(1001)}"}`,
      /organizationId must not be longer than 2000 bytes/,
    ],
    ['{"organizationId":"a","documentName":"Plan"}', /^is wrong: documentName needs documentId$/],
    [
      '{"organizationId":"a","documentId":"d","organizationUserGroupName":""}',
      /organizationUserGroupName needs organizationUserGroupId$/,
    ],
    [
      `{"organizationId":"a","organizationName":"${'x'.repeat(301)}"}`,
      /organizationName must not be longer than 300 characters$/,
    ],
    ...['\\n', '\\u202e', '\\ud800'].map((part): [string, RegExp] => [
      `{"organizationId":"a","organizationName":"Acme${part}"}`,
      /organizationName must be one line of printable characters$/,
    ]),
  ])('%s is refused', (text, complaint) => {
    const parsed = parseJsonLine(text)
    expect(parsed).toHaveProperty('complaint', expect.stringMatching(complaint))
  })
})
