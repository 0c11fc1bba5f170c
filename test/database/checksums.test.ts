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
  expect(complaints()).toEqual([])
})

test(`every migration has its line in sql/migrations.sha256: ${UPDATE}`, async () => {
  // An edited one keeps its old line.
  const all = new Map([...there, ...landed])
  const text = [...all].map(([path, hash]) => `${hash}  ${path}\n`).toSorted(byPath)
  await expect(text.join('')).toMatchFileSnapshot(CHECKSUMS)
})

test('migrations are numbered without gaps, and name a released version that also works with their tables', () => {
  const files = readdirSync(join(SQL, 'migrations')).toSorted()
  const numbers = files.map((name) => Number(/^(\d{3})_[a-z_]+\.sql$/.exec(name)?.[1]))
  expect(numbers).toEqual(files.map((_name, index) => index + 1))
  for (const name of files) {
    const text = readFileSync(join(SQL, 'migrations', name), 'utf8')
    const line = /^-- Works with.*$/m.exec(text)?.[0]
    if (line !== undefined) expect(line, name).toMatch(/^-- Works with: \d+\.\d+\.\d+$/)
  }
})

/** One that landed stays as it is, and those after it have higher numbers. */
function complaints(): string[] {
  const last = [...landed.keys()].toSorted().at(-1) ?? ''
  return [
    ...[...landed].flatMap(([path, hash]) => {
      if (!there.has(path)) return [`sql/${path} landed and is gone: restore it.`]
      if (there.get(path) === hash) return []
      return [
        `sql/${path} was edited after it landed: restore it, and write the next migration. (If it never left your clone, delete its line in sql/migrations.sha256 instead.)`,
      ]
    }),
    ...[...there.keys()]
      .filter((path) => !landed.has(path) && path < last)
      .map((path) => `sql/${path} comes before ${last}, which landed: give it the next number.`),
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
