import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { columnsFault, memberOfColumn, parseJsonLine } from '../../src/catalog/lines.ts'

describe('a line of NDJSON', () => {
  test.each([
    { organizationId: 'acme' },
    { organizationId: 'acme', documentId: 'plan' },
    { organizationId: 'acme', documentId: 'plan', annotationId: 'a1' },
    { organizationId: 'acme', organizationUserGroupId: 'staff' },
  ])('%o is read as it is', (line) => {
    expect(parseJsonLine(JSON.stringify(line))).toEqual({ line })
  })

  test('a member that is null counts as absent', () => {
    expect(parseJsonLine('{"organizationId":"a","documentId":null}')).toEqual({
      line: { organizationId: 'a' },
    })
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
    ['"acme"', /^is not an object$/],
    ['null', /^is not an object$/],
    ['{}', /^has no organizationId$/],
    ['{"documentId":"d"}', /^has no organizationId$/],
    ['{"organizationId":""}', /^has a organizationId that is empty$/],
    ['{"organizationId":7}', /^has a organizationId that is a number, not a string$/],
    ['{"organizationId":{}}', /^has a organizationId that is an object, not a string$/],
    ['{"organizationId":["a"]}', /organizationId that is an array, not a string/],
    ['{"organizationId":"a","annotationId":"x"}', /annotationId but no documentId/],
    [
      '{"organizationId":"a","documentId":"d","organizationUserGroupId":"g"}',
      /both an organizationUserGroupId and a documentId/,
    ],
    [
      '{"organizationId":"a","orgName":"A"}',
      /unknown member "orgName" \(known are organizationId, /,
    ],
    ['{"organizationId":"a\\u0000b"}', /organizationId that holds a NUL/],
    ['{"organizationId":"a\\ud800b"}', /organizationId that holds half of a surrogate pair/],
    [`{"organizationId":"${'ü'.repeat(1001)}"}`, /organizationId that is longer than 2000 bytes/],
  ])('%s is refused', (text, complaint) => {
    const parsed = parseJsonLine(text)
    expect(parsed).toHaveProperty('complaint', expect.stringMatching(complaint))
  })
})

describe('columns', () => {
  test.each([
    ['organizationId', 'organizationId'],
    ['organization_id', 'organizationId'],
    ['organizationid', 'organizationId'],
    ['ORGANIZATION_USER_GROUP_ID', 'organizationUserGroupId'],
    [' document_id ', 'documentId'],
    ['document', null],
  ])('%s is %s', (column, member) => {
    expect(memberOfColumn(column)).toBe(member)
  })

  test.each([
    [['organizationId', 'documentId'], null],
    [['documentId'], 'has no column organizationId'],
    [['organizationId', 'organization_id'], 'has the column organizationId twice'],
    [
      ['x'.repeat(200)],
      `has an unknown column "${'x'.repeat(100)}" (known are organizationId, documentId, annotationId, organizationUserGroupId)`,
    ],
    [
      ['organizationId;documentId'],
      expect.stringMatching(/unknown column "organizationId;documentId"/),
    ],
  ])('of %j the fault is %s', (columns, fault) => {
    expect(columnsFault(columns)).toEqual(fault)
  })
})
