import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { fileSource, textLines } from '../../src/features/catalog/file.ts'
import type { NumberedLine } from '../../src/features/catalog/lines.ts'
import { UsageError } from '../../src/base/errors.ts'
import { ownFolder } from '../helpers/own-folder.ts'

let directory: string
beforeEach(() => {
  directory = ownFolder()
})

async function read(name: string, content: string | Buffer): Promise<NumberedLine[]> {
  const path = join(directory, name)
  writeFileSync(path, content)
  return collect(fileSource(path).lines())
}

const PLAN = { organizationId: 'acme', documentId: 'plan' }

describe('NDJSON', () => {
  test("blank lines, CRLF, a byte order mark and no last line feed are taken; numbers are the file's", async () => {
    const lines = await read(
      'c.ndjson',
      '\uFEFF{"organizationId":"a"}\r\n\r\n  \n{"organizationId":"b"}',
    )
    expect(lines).toEqual([
      { number: 1, line: { organizationId: 'a' } },
      { number: 4, line: { organizationId: 'b' } },
    ])
  })

  test('bytes that are no UTF-8 are a complaint with the number of their line', async () => {
    const bad = Buffer.concat([
      Buffer.from('{"organizationId":"ä"}\n{"organizationId":"'),
      Buffer.from([0xe4]),
      Buffer.from('"}\n{"organizationId":"c"}\n'),
    ])
    expect(await read('c.ndjson', bad)).toEqual([
      { number: 1, line: { organizationId: 'ä' } },
      { number: 2, complaint: 'is not UTF-8' },
      { number: 3, line: { organizationId: 'c' } },
    ])
  })

  test('a last line may have a megabyte, and a byte order mark within a text is part of it', async () => {
    const line = { organizationId: 'o', documentId: 'a\uFEFFb' }
    const text = JSON.stringify(line)
    const padded = `\n${text}${' '.repeat(1024 * 1024 - Buffer.byteLength(text))}`
    expect(await read('c.ndjson', padded)).toEqual([{ number: 2, line }])
    await expect(read('c.ndjson', `${padded} `)).rejects.toThrow('line 2 is longer')
    expect(await read('d.ndjson', `\n\uFEFF{}`)).toMatchObject([
      { number: 2, complaint: expect.stringMatching(/^is not JSON/) },
    ])
  })

  test('however the bytes arrive, the lines are the same', async () => {
    const text = '{"organizationId":"é"}\n\n{"organizationId":"漢字"}\r\n{"x'
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(60), { maxLength: 8 }), async (cuts) => {
        const bytes = Buffer.from(text)
        const ends = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        const chunks = ends.slice(1).map((end, index) => bytes.subarray(ends[index], end))
        const lines = (await collect(textLines(asyncOf(chunks)))).flat()
        expect(lines.map((line) => line.text).join('\n')).toBe(text)
        expect(lines.map((line) => line.number)).toEqual([1, 2, 3, 4])
      }),
    )
  })
})

describe('CSV', () => {
  test('the header names the columns in any order, and empty cells are absent', async () => {
    const text =
      '\uFEFFdocumentId,organizationId,annotationId,organizationUserGroupId\r\n,acme,,\r\nplan,acme,,\r\nplan,acme,a1,\r\n,acme,,staff\r\n,,,\r\n\r\n'
    expect((await read('c.csv', text)).map((line) => 'line' in line && line.line)).toEqual([
      { organizationId: 'acme' },
      PLAN,
      { ...PLAN, annotationId: 'a1' },
      { organizationId: 'acme', organizationUserGroupId: 'staff' },
    ])
  })

  test('quotes, commas, spaces and line feeds in an id are kept', async () => {
    expect(
      await read('c.csv', 'organizationId,documentId\n" a ""b"", c", x\n"two\nlines",y\n'),
    ).toEqual([
      { number: 2, line: { organizationId: ' a "b", c', documentId: ' x' } },
      { number: 4, line: { organizationId: 'two\nlines', documentId: 'y' } },
    ])
  })

  test.each([
    'organizationId\nacme\r\nbeta\r\n',
    'organizationId\r\nacme\nbeta',
    'organizationId\racme\rbeta\r',
    'organizationId\r\n\r\n"acme"\r\n\nbeta\r',
  ])('any line end is one wherever it stands: %j', async (text) => {
    const lines = await read('c.csv', text)
    expect(lines.map((line) => 'line' in line && line.line.organizationId)).toEqual([
      'acme',
      'beta',
    ])
  })

  test('a further header, as of files put one after the other, holds for what follows it', async () => {
    const text =
      'organizationId,documentId\nacme,plan\n\uFEFFdocument_id,organization_id\nplan,acme\n'
    expect(await read('c.csv', text)).toEqual([
      { number: 2, line: PLAN },
      { number: 4, line: PLAN },
    ])
    expect(await read('c.csv', 'organizationId\na\norganizationId,name\nb,c\n')).toEqual([
      { number: 2, line: { organizationId: 'a' } },
      { number: 3, complaint: expect.stringMatching(/^has an unknown column "name"/) },
    ])
  })

  test.each([
    [
      'organizationId,documentId\na\n',
      { number: 2, complaint: 'has 1 cells where the header has 2' },
    ],
    ['organizationId\na,b\n', { number: 2, complaint: 'has 2 cells where the header has 1' }],
    ['documentId\nd\n', { number: 1, complaint: 'has no column organizationId' }],
    [
      'organizationId,organization_id\na,a\n',
      { number: 1, complaint: 'has the column organizationId twice' },
    ],
    ['organizationId\n"a\n', { number: 2, complaint: expect.stringMatching(/^is not CSV/) }],
    ['organizationId\na"b\n', { number: 2, complaint: expect.stringMatching(/^is not CSV/) }],
    [
      'organizationId,annotationId\na,x\n',
      { number: 2, complaint: 'is wrong: annotationId needs documentId' },
    ],
  ])('%j is a complaint', async (text, complaint) => {
    expect(await read('c.csv', text)).toEqual([complaint])
  })

  test('bytes that are no UTF-8 are a complaint with the number of their line', async () => {
    const lines = await read('c.csv', Buffer.from('organizationId\nb\nM\xfcller\nc\n', 'latin1'))
    expect(lines).toContainEqual({ number: 3, complaint: 'is not UTF-8' })
    const none = await read('c.csv', Buffer.from([0xff, 0xfe, 0x41, 0x00]))
    expect(none).toContainEqual({ number: 1, complaint: 'is not UTF-8' })
    const endless = read('c.csv', `organizationId\n"${'x'.repeat(3_000_000)}`)
    await expect(endless).rejects.toThrow(UsageError)
  })
})

describe('which format', () => {
  test('the extension decides in any case, and the first character without one', async () => {
    const json = '{"organizationId":"a"}\n'
    expect(await read('a.txt', `\n ${json}`)).toEqual([
      { number: 2, line: { organizationId: 'a' } },
    ])
    expect(await read('a.txt', 'organizationId\na\n')).toHaveLength(1)
    for (const name of ['a.ndjson', 'a.JSONL', 'a.json', 'a.Ndjson'])
      expect(await read(name, json)).toEqual([{ number: 1, line: { organizationId: 'a' } }])
    for (const name of ['a.csv', 'a.CSV'])
      expect(await read(name, json)).toMatchObject([
        { number: 1, complaint: expect.stringMatching(/^is not CSV/) },
      ])
  })

  test.each(['a', 'a.csv', 'a.ndjson'])('an empty file %s has no lines', async (name) => {
    expect(await read(name, '')).toEqual([])
    expect(await read(name, '\n\n')).toEqual([])
  })
})

describe('what cannot be read', () => {
  test('a file that is not there, and a directory, are told by name', async () => {
    const missing = join(directory, 'missing.csv')
    await expect(collect(fileSource(missing).lines())).rejects.toThrow(
      `${missing} cannot be read: ENOENT: no such file or directory`,
    )
    expect(fileSource(missing)).toMatchObject({ name: missing, unit: 'line' })
    expect(fileSource('-')).toMatchObject({ name: 'standard input', unit: 'line' })
    mkdirSync(join(directory, 'd.ndjson'))
    await expect(collect(fileSource(join(directory, 'd.ndjson')).lines())).rejects.toThrow(
      /d\.ndjson cannot be read: EISDIR/,
    )
  })
})

async function* asyncOf<T>(items: T[]): AsyncGenerator<T> {
  yield* items
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
