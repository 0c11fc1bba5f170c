import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

/**
 * Holds the migrations against `sql/migrations.sha256`, in which each has its line from the commit with which it lands.
 * With `--update` the test adds lines of new files, and never changes one.
 */

const SQL = resolve(import.meta.dirname, '../../sql')
const CHECKSUMS = join(SQL, 'migrations.sha256')
const UPDATE = 'npm test -- test/database/checksums -u'

const landed = linesOf(readFileSync(CHECKSUMS, 'utf8'))
const there = new Map(
  readdirSync(join(SQL, 'migrations'))
    .toSorted()
    .map((name) => [`migrations/${name}`, hashOf(readFileSync(join(SQL, 'migrations', name)))]),
)

test('no migration that landed was edited or removed', () => {
  expect(complaints(landed, there)).toEqual([])
})

test(`every migration has its line in sql/migrations.sha256: ${UPDATE}`, async () => {
  // An edited one keeps its old line.
  const all = new Map([...there, ...landed])
  const text = [...all].map(([path, hash]) => `${hash}  ${path}\n`).toSorted(byPath)
  await expect(text.join('')).toMatchFileSnapshot(CHECKSUMS)
})

test('what is edited, removed, or numbered before one that landed is told with what to do', () => {
  const known = new Map([
    ['migrations/0001_a.sql', '1'],
    ['migrations/0003_c.sql', '3'],
  ])
  const edited = new Map([
    ['migrations/0001_a.sql', 'other'],
    ['migrations/0002_b.sql', '2'],
    ['migrations/0004_d.sql', '4'],
  ])
  expect(complaints(known, edited)).toEqual([
    'sql/migrations/0001_a.sql was edited after it landed: restore it, and write the next migration. (Did it never leave your clone, delete its line in sql/migrations.sha256 instead.)',
    'sql/migrations/0003_c.sql landed and is gone: restore it.',
    'sql/migrations/0002_b.sql comes before 0003_c.sql, which landed: give it the next number.',
  ])
  expect(complaints(known, new Map([...known, ['migrations/0004_d.sql', '4']]))).toEqual([])
})

function complaints(known: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>) {
  const last = [...known.keys()].toSorted().at(-1) ?? ''
  return [
    ...[...known].flatMap(([path, hash]) => {
      if (!found.has(path)) return [`sql/${path} landed and is gone: restore it.`]
      if (found.get(path) === hash) return []
      return [
        `sql/${path} was edited after it landed: restore it, and write the next migration. (Did it never leave your clone, delete its line in sql/migrations.sha256 instead.)`,
      ]
    }),
    ...[...found.keys()]
      .filter((path) => !known.has(path) && path < last)
      .map(
        (path) =>
          `sql/${path} comes before ${last.split('/')[1]}, which landed: give it the next number.`,
      ),
  ]
}

function linesOf(text: string): Map<string, string> {
  return new Map(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [hash = '', path = ''] = line.split('  ')
        return [path, hash]
      }),
  )
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function byPath(a: string, b: string): number {
  const [left = '', right = ''] = [a.split('  ')[1], b.split('  ')[1]]
  return left < right ? -1 : 1
}
