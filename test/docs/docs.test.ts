import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { FIRST_STEPS } from '../../src/cli/help.ts'
import { ATTENTION_KINDS } from '../../src/schemas/attention.ts'
import { SETTING_LIST } from '../../src/settings/table.ts'

/** What the documents name is there: tests, files, commands, settings. */

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const isThere = (path: string): boolean => existsSync(join(ROOT, path))

const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'sql/README.md',
  ...['docs', 'docs/decisions'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
]

/** Settings of ours by their look, and those that belong to the compose file alone. */
const SETTING = /\b(?:COLLAB|SYNC|CATALOG|QUEUE|DATABASE|REDIS)_[A-Z_]*[A-Z]\b/g
const settings = SETTING_LIST.flatMap(({ setting }) =>
  'secret' in setting ? [setting.name, `${setting.name}_FILE`] : [setting.name],
)

test('docs/OPERATING.md leaves measured figures to docs/PERFORMANCE.md', () => {
  const sizing = read('docs/OPERATING.md').split('## Sizing')[1]!.split('\n## ')[0]!
  const rows = sizing.match(/^\| (?:CPU|memory|PostgreSQL, disk) +\|.*/gm) ?? []
  expect(rows).toHaveLength(3)
  expect(rows.filter((row) => /\d/.test(row) || !row.includes('](PERFORMANCE.md#'))).toEqual([])
})

test('`erase --help` and docs/PRIVACY.md name the same spellings of an address', () => {
  const erase = createProgram(() => {}).commands.find((command) => command.name() === 'erase')
  const spellings = 'in any letter case and spelling, plain or percent-encoded once'
  expect(read('docs/PRIVACY.md')).toContain(`an address ${spellings}`)
  for (const kind of erase?.commands ?? [])
    expect(kind.description()).toContain(`Addresses are erased in all texts, ${spellings};`)
  expect(erase?.commands).toHaveLength(2)
})

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

test('docs/OPERATING.md names each kind of open problem, and which notification it sends', () => {
  const kinds = [...read('docs/OPERATING.md').matchAll(/^\| `[^|]+ \|/gm)].join('\n')
  for (const kind of ATTENTION_KINDS) expect(kinds).toContain(`\`${kind}\``)
})

describe('SECURITY.md', () => {
  // An item that ends with a colon introduces the promises beneath it.
  const promises = read('SECURITY.md')
    .split('## Not guaranteed')[0]!
    .split('\n')
    .filter((line) => /^ *- .*[^:]$/.test(line))

  test('names for each promise the test that holds it', () => {
    expect(promises.length).toBeGreaterThan(15)
    expect(promises.filter((promise) => !/ Tests?: `test\/\S+\.test\.ts`/.test(promise))).toEqual(
      [],
    )
  })
})

describe.each(PAGES)('%s', (page) => {
  const text = read(page)

  test('names only files that are there', () => {
    const named = [...text.matchAll(/`((?:src|jobs|sql|test|docs)\/[\w./-]+)`/g)]
      .map(([, path = '']) => path)
      // `<noun>/<verb>` and the like are patterns; a module may be named without its ending.
      .filter((path) => !isThere(path) && !isThere(`${path}.ts`))
    expect(named).toEqual([])
  })

  test('links only to pages that are there', () => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !isThere(join(dirname(page), link)))).toEqual([])
  })

  test('links only to headings that are there', () => {
    const links = [...text.matchAll(/\]\(((?!https?:)[^)#\s]*\.md)?#([^)]+)\)/g)]
    const missing = links.filter(([, target, anchor = '']) => {
      const linked = target === undefined ? text : read(join(dirname(page), target))
      const headings = [...linked.matchAll(/^#+ (.+)$/gm)]
      return !headings.some(([, heading = '']) => anchorOf(heading) === anchor)
    })
    expect(missing.map(([link]) => link)).toEqual([])
  })

  test('names only settings that there are', () => {
    const named = [...text.matchAll(SETTING)].map(([name]) => name)
    expect(named.filter((name) => !settings.includes(name))).toEqual([])
  })
})

test('the first steps have one order in the README, the help, the demo and .env.example', () => {
  const steps = ['.env', 'migrate', 'catalog import', 'doctor', 'run']
  const orderIn = (text: string) =>
    [...text.matchAll(/\.env\b(?=\W)|(?<=collab-sync )(migrate|catalog import|doctor|run)\b/g)].map(
      ([step]) => step,
    )
  const section = read('README.md').split('## Get started')[1]!.split('\n## ')[0]!
  for (const text of [section, FIRST_STEPS, read('.env.example').split('\n\n')[0]!])
    expect([...new Set(orderIn(text))]).toEqual(steps)
  // Help and demo print the same steps.
  for (const page of ['src/cli/help.ts', 'src/cli/commands/demo.ts'])
    expect(read(page)).toMatch(/^(\$\{|    )FIRST_STEPS[},]/m)
})

test('sources, SQL and tests cite only pages, and sections of them, that are there', () => {
  const cited = ['src', 'sql', 'jobs', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:[jt]sx?|sql|md)$/.test(name))
      .flatMap((name) => {
        const file = `${folder}/${name}`
        const citations = read(file).matchAll(/([\w./-]*\w\.md)\b`?(?:, ([A-Z][\w ]*))?/g)
        return [...citations].map(([, page = '', section]) => ({ file, page, section }))
      }),
  )
  expect(cited.length).toBeGreaterThan(50)
  const isKnown = ({ file, page, section = '' }: (typeof cited)[number]): boolean => {
    const path = [page, join(dirname(file), page), `docs/${page}`].find(isThere)
    if (path === undefined) return false
    const headings = [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading)
    return section === '' || headings.includes(section)
  }
  expect(cited.filter((one) => !isKnown(one))).toEqual([])
})

describe('the image', () => {
  const dockerfile = read('Dockerfile')
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  )

  test('is built from files that are there and that .dockerignore lets through', () => {
    const letThrough = read('.dockerignore').split('\n')
    expect(copied.length).toBeGreaterThan(0)
    expect(copied.filter((path) => !isThere(path) || !letThrough.includes(`!${path}`))).toEqual([])
  })

  test('has the sources that are compiled, and runs the command of package.json, not as root', () => {
    const { include } = JSON.parse(read('tsconfig.json')) as { include: string[] }
    expect(include.filter((folder) => !copied.includes(folder))).toEqual([])
    const { bin } = JSON.parse(read('package.json')) as { bin: Record<string, string> }
    expect(dockerfile).toContain(`/app/${bin['collab-sync']}`)
    const user = /^USER (\d+)$/m.exec(dockerfile)?.[1]
    expect(Number(user)).toBeGreaterThan(0)
  })
})

describe('docker-compose.yml', () => {
  const compose = read('docker-compose.yml')

  test('waits for servers that say they are healthy, and for the migration', () => {
    const waits = [...compose.matchAll(/^ +(\w+): \{ condition: (\w+) \}$/gm)]
    const waitedFor = new Map(waits.map(([, service, condition]) => [service, condition]))
    expect(Object.fromEntries(waitedFor)).toEqual({
      postgres: 'service_healthy',
      redis: 'service_healthy',
      migrate: 'service_completed_successfully',
    })
  })
})
