import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path/posix'
import { describe, expect, test } from 'vitest'
import { OPERATION_NAMES } from '../src/base/operations.ts'

/** Holds what docs/ARCHITECTURE.md and sql/README.md promise. A failure names the rule and the file. */

const ROOT = resolve(import.meta.dirname, '..')
const LINES_MAX = 400

/** Written by `npm run generate` (test/reporting/view-types.ts). */
const GENERATED_TYPES = 'src/client/views.ts'

/** Written by `npm run generate` (test/statements). */
const GENERATED = 'src/core/database/statements/'

const FEATURES = 'src/features/'

/** They give their environment to a program that they start, or look for a proxy as everything in Node does. */
const ENVIRONMENT_FILES = [
  'src/worker/embedded/binaries.ts',
  'src/cli/commands/psql.ts',
  'src/base/proxy.ts',
]

interface Source {
  path: string
  text: string
  /** Relative imports as paths from the root; a type's import counts too. */
  imports: string[]
  packages: string[]
}

/** A floor of docs/ARCHITECTURE.md; the rows stand from top to bottom. */
interface Row {
  /** `src/core/sync/` or `src/index.ts`. */
  place: string
  aloneUses: string[]
  doesNotImport: string[]
}

const sources = list(['src', 'jobs'], /\.tsx?$/).map(readSource)
const rows = readTable()

describe('the table of docs/ARCHITECTURE.md', () => {
  test('has a row for every source file', () => {
    expect(rows.length).toBeGreaterThan(10)
    expect(sources.filter(({ path }) => rowOf(path) === undefined).map(({ path }) => path)).toEqual(
      [],
    )
  })

  test('has no row for a place that does not exist', () => {
    const empty = rows.filter(
      ({ place }) => !sources.some(({ path }) => rowOf(path)?.place === place),
    )
    expect(empty.map(({ place }) => place)).toEqual([])
  })

  test('is held by every import: a floor imports what is beneath it, and no feature another', () => {
    const violations = sources.flatMap(({ path, imports }) => {
      const row = rowOf(path)
      if (row === undefined) return []
      const isFeature = row.place.startsWith(FEATURES)
      return imports
        .map((target) => ({ target, imported: rowOf(target) }))
        .filter(
          ({ imported }) =>
            imported !== row &&
            (imported === undefined ||
              rows.indexOf(imported) < rows.indexOf(row) ||
              (isFeature && imported.place.startsWith(FEATURES)) ||
              row.doesNotImport.includes(imported.place)),
        )
        .map(({ target }) => `${path} imports ${target}`)
    })
    expect(violations).toEqual([])
  })

  test('is held by the libraries that one place alone uses', () => {
    const owners = new Map(
      rows.flatMap(({ place, aloneUses }) => aloneUses.map((name) => [name, place])),
    )
    const violations = sources.flatMap(({ path, packages }) =>
      packages
        .filter((name) => owners.has(name) && owners.get(name) !== rowOf(path)?.place)
        .map((name) => `${path} imports ${name}: only ${owners.get(name)} may`),
    )
    expect(violations).toEqual([])
  })

  test('names only installed libraries', () => {
    const { dependencies, peerDependencies } = JSON.parse(read('package.json')) as Record<
      'dependencies' | 'peerDependencies',
      Record<string, string>
    >
    const installed = { ...dependencies, ...peerDependencies }
    const unknown = rows
      .flatMap(({ aloneUses }) => aloneUses)
      .filter((name) => !(name in installed))
    expect(unknown).toEqual([])
  })
})

test('the drawing of docs/ARCHITECTURE.md has the floors of the table, and the imports from which all others follow', () => {
  const [, drawing] = /^```mermaid\n(flowchart [^`]*)```$/m.exec(read('docs/ARCHITECTURE.md')) ?? []
  expect(drawing).toBe(drawFloors())
})

describe('source files', () => {
  test('import nothing in a circle', () => {
    expect(findCircles()).toEqual([])
  })

  test(`have at most ${LINES_MAX} lines`, () => {
    const long = sources
      .filter(({ path }) => !path.startsWith(GENERATED) && path !== GENERATED_TYPES)
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > LINES_MAX)
    expect(long.map(({ path, lines }) => `${path} has ${lines} lines`)).toEqual([])
  })

  test('compare nothing with the name of an operation: src/base/operations.ts and its module have what differs', () => {
    const name = `['"\`](?:${OPERATION_NAMES.join('|')})['"\`]`
    const before = `[!=]==?[\\s(]*|case\\s+|\\b(?:includes|has|indexOf|is|startsWith)\\(\\s*(?:\\w+,\\s*)?|new Set(?:<\\w+>)?\\(\\[\\s*`
    const after = `\\s+[!=]==?\\s|[^\\](){}]*\\][\\w[\\] ]*\\)?\\s*\\.(?:includes|has)\\(`
    const compared = `(?:${before})${name}|${name}(?:${after})`
    expect(sourcesWith(new RegExp(compared))).toEqual([])
  })

  test('have kebab-case names, tests and statements too', () => {
    const names = list(['src', 'jobs', 'test', 'sql/queries'], /\.(tsx?|sql)$/).filter(
      (path) =>
        !path.split('/').every((part) => /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/.test(part)),
    )
    expect(names).toEqual([])
  })

  test('have no name that tells nothing', () => {
    const vague = /^(utils?|helpers?|lib|common|types|interfaces|misc|shared)$/
    const names = sources.filter(({ path }) =>
      path.split('/').some((part) => vague.test(part.replace(/\.tsx?$/, ''))),
    )
    expect(names.map(({ path }) => path)).toEqual([])
  })

  test('print through src/cli/output.ts or the log, not the console', () => {
    expect(sourcesWith(/\bconsole\.\w+\(/)).toEqual([])
  })

  test('set process.exitCode, so that what is printed gets out, instead of ending the process', () => {
    // In signals.ts nothing is left to print; a Node.js that is too old must not load anything else.
    const ending = ['src/cli/node-version.ts', 'src/cli/signals.ts']
    expect(sourcesWith(/\bprocess\.exit\(/)).toEqual(ending)
  })

  test('hand the environment whole to src/settings, which alone looks into it', () => {
    const handed = /\b\w*[sS]ettings\(\s*process\.env\b/g
    const violations = sources.filter(
      ({ path, text }) =>
        !ENVIRONMENT_FILES.includes(path) &&
        withoutComments(text).replaceAll(handed, '').includes('process.env'),
    )
    expect(violations.map(({ path }) => path)).toEqual([])
  })
})

/** Words that stood for a term of the field here once; see "One path through it" in docs/ARCHITECTURE.md for the terms. */
const DROPPED_WORDS =
  'door gate takeup needle needles told tell tells telling happening happenings batchinhand ledger beat answer answers answered ask asks asked asking evidence hear heard hearing look mend mends narrow narrowed piece settle settles sweep who wish'.split(
    ' ',
  )

/** Columns of views, and the first comment of another author in a thread, which is an answer. */
const PUBLIC_NAMES = [
  'firstAnswerAt',
  'first_answer_at',
  'hours_to_first_answer',
  'members_who_comment',
]

describe('names', () => {
  test('use the terms of the field, not words that only we knew', () => {
    const paths = list(['src', 'jobs', 'sql', 'test'], /\.(tsx?|sql)$/)
    const inPaths = paths.filter((path) => hasDropped(path.replaceAll(/[/.-]/g, ' ')))
    expect(inPaths).toEqual([])
    const inCode = sources.flatMap(({ path, text }) =>
      (text.replaceAll(COMMENTS_AND_TEXTS, ' ').match(/[A-Za-z_$][\w$]*/g) ?? [])
        .filter((name) => !PUBLIC_NAMES.includes(name))
        .filter((name) => hasDropped(name.replaceAll(/([a-z])([A-Z])/g, '$1 $2')))
        .map((name) => `${path}: ${name}`),
    )
    expect([...new Set(inCode)]).toEqual([])
  })
})

const COMMENTS_AND_TEXTS = /\/\*[^]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g

function hasDropped(words: string): boolean {
  return words.split(' ').some((word) => DROPPED_WORDS.includes(word.toLowerCase()))
}

describe('statements in sql/queries', () => {
  const statements = list(['sql/queries'], /\.sql$/).map((path) => ({
    name: path.slice('sql/queries/'.length, -'.sql'.length),
    text: read(path),
  }))

  test('begin with a comment that says what they do, and name their parameters', () => {
    const bare = statements.filter(
      // A COPY can have no parameters.
      ({ text }) => !/^-- (?!Params:)\S.*\n((-- .*\n)*?-- Params: |copy )/.test(text),
    )
    expect(bare.map(({ name }) => name)).toEqual([])
  })

  test('have a caller', () => {
    const exported = /^export const (\w+) = new Statement<[\s\S]*?>\(\s*'([^']+)'/gm
    const uncalled = sources
      .filter(({ path }) => path.startsWith(GENERATED))
      .flatMap((module) => {
        const callers = sources.filter(({ imports }) => imports.includes(module.path))
        return [...module.text.matchAll(exported)]
          .filter(([, name]) => !callers.some(({ text }) => new RegExp(`\\.${name}\\b`).test(text)))
          .map(([, , statement]) => statement)
      })
    expect(uncalled).toEqual([])
  })
})

/** Lets time pass between two looks at a state, for all others. */
const WAITS = 'test/helpers/until.ts'

const TIMERS = new RegExp(
  ['setTimeout', 'setInterval', 'pg_sleep', 'performance.now'].join('\\b|\\b'),
)

describe('the files of `npm test`', () => {
  test(`neither sleep nor measure time, with what they import: ${WAITS} waits for states`, () => {
    const tests = list(['test'], /\.tsx?$/).map(readSource)
    const byPath = new Map(tests.map((source) => [source.path, source]))
    const reached = new Set<string>()
    const reach = (path: string): void => {
      if (reached.has(path)) return
      reached.add(path)
      byPath.get(path)?.imports.forEach(reach)
    }
    for (const { path } of tests)
      if (path.endsWith('.test.ts') && !path.endsWith('.soak.test.ts')) reach(path)
    const exempt = [WAITS, 'test/architecture.test.ts']
    const violations = [...reached].filter(
      (path) =>
        !exempt.includes(path) && TIMERS.test(withoutComments(byPath.get(path)?.text ?? '')),
    )
    expect(violations.sort()).toEqual([])
  })
})

/** Files beneath folders, as paths from the root. */
function list(folders: string[], extension: RegExp): string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name.replaceAll('\\', '/')),
      ),
    )
    .filter((path) => extension.test(path) && !path.includes('/node_modules/'))
    .sort()
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function readSource(path: string): Source {
  const text = read(path)
  const specifiers = [
    ...text.matchAll(/^(?:import|export)\s[^'`]*?from '([^']+)'/gm),
    ...text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g),
    ...text.matchAll(/^import '([^']+)'/gm),
  ].map(([, specifier]) => specifier as string)
  return {
    path,
    text,
    imports: specifiers
      .filter((each) => each.startsWith('.'))
      .map((each) => join(dirname(path), each)),
    packages: specifiers
      .filter((each) => !/^[.#]|^node:/.test(each))
      .map((each) =>
        each
          .split('/')
          .slice(0, each.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
  }
}

function readTable(): Row[] {
  const text = read('docs/ARCHITECTURE.md')
  const part = text.slice(text.indexOf('| floor '))
  return part
    .slice(0, part.indexOf('\n\n'))
    .split('\n')
    .slice(2)
    .map((line) => {
      const [, place = '', , aloneUses = '', doesNotImport = ''] = line
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', ''))
      const names = (cell: string) => cell.split(', ').filter((name) => name !== '')
      return { place, aloneUses: names(aloneUses), doesNotImport: names(doesNotImport) }
    })
}

function rowOf(path: string): Row | undefined {
  return rows.find(({ place }) => (place.endsWith('/') ? path.startsWith(place) : path === place))
}

/** The floors as a Mermaid flowchart, with one box for all features. */
function drawFloors(): string {
  const boxOf = ({ place }: Row) => (place.startsWith(FEATURES) ? FEATURES : place)
  const boxes = [...new Set(rows.map(boxOf))]
  const importsOf = new Map(boxes.map((box) => [box, new Set<string>()]))
  for (const { path, imports } of sources) {
    const importer = rowOf(path)
    for (const imported of imports.map(rowOf))
      if (importer && imported && boxOf(imported) !== boxOf(importer))
        importsOf.get(boxOf(importer))?.add(boxOf(imported))
  }
  const directly = (from: string) => boxes.filter((box) => importsOf.get(from)?.has(box))
  const reaches = (from: string, to: string): boolean =>
    directly(from).some((box) => box === to || reaches(box, to))
  const idOf = (box: string) => box.replace('src/', '').replaceAll(/\W/g, '')
  const features = rows.flatMap(({ place }) =>
    place.startsWith(FEATURES) ? place.slice(FEATURES.length, -1) : [],
  )
  const nodes = boxes.map((box) => {
    const names = box === FEATURES ? `<br/>${features.join(', ')}` : ''
    return `  ${idOf(box)}["${box}${names}"]`
  })
  const arrows = boxes.flatMap((from) => {
    const targets = directly(from).filter((to) => !directly(from).some((box) => reaches(box, to)))
    return targets.length === 0 ? [] : `  ${idOf(from)} --> ${targets.map(idOf).join(' & ')}`
  })
  return ['flowchart TD', ...nodes, ...arrows, ''].join('\n')
}

/** Every circle of imports, by depth-first search; types count, since they tie files together too. */
function findCircles(): string[] {
  const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]))
  const settled = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, trail: string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) circles.push([...trail.slice(start), path].join(' -> '))
    if (start >= 0 || settled.has(path)) return
    for (const next of importsOf.get(path) ?? []) visit(next, [...trail, path])
    settled.add(path)
  }
  for (const { path } of sources) visit(path, [])
  return circles
}

function sourcesWith(pattern: RegExp): string[] {
  return sources.filter(({ text }) => pattern.test(withoutComments(text))).map(({ path }) => path)
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
}
