import { readdirSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { Environment } from '../cli/built-command.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import { openFaultServer, success } from '../service/fault-server.ts'
import { argumentsOf, blocksOf, README, sectionOf, shownIn } from './readme-blocks.ts'

/** Runs the commands of README.md in its order, on an empty database and a service that has what its catalog lists. */

const WORDS_MAX = 1000
const ANN = { userId: 'ann', name: 'Ann Smith', email: 'ann@acme.example' }

const command = await buildCommand()
const settings: Environment = {
  COLLAB_API_URL: await startService(),
  COLLAB_API_KEY: 'the-key-of-the-readme',
  COLLAB_AUTH_TOKEN: 'the-token-of-the-readme',
  DATABASE_URL: (await createEmptyDatabase()).url,
}
const [catalog = ''] = blocksOf(sectionOf('The catalog'), 'json')
await writeFile(join(command.directory, 'catalog.ndjson'), catalog)

test(`README.md has at most ${WORDS_MAX} words, without its drawing and outputs`, () => {
  const words = README.replaceAll(/^ *```(?:mermaid|console)\n[^]*?^ *```$/gm, ' ')
  expect(words.match(/\S+/g)?.length).toBeLessThanOrEqual(WORDS_MAX)
})

test('README.md shows each image of docs/images, none of which is larger than 150 kB', () => {
  const folder = resolve(import.meta.dirname, '../../docs/images')
  for (const name of readdirSync(folder)) {
    expect(README).toContain(`](docs/images/${name})`)
    expect(statSync(join(folder, name)).size, name).toBeLessThan(150_000)
  }
})

test('each step to real data prints what README.md shows, and its other commands work', async () => {
  const steps = shownIn(sectionOf('Get started'))
  expect(steps.map((step) => argumentsOf(step.command)[0])).toEqual([
    'migrate',
    'catalog',
    'doctor',
    'run',
    'worker',
  ])
  for (const { command: step, output } of steps.slice(0, -1)) {
    const { code, stdout } = await command.run(argumentsOf(step), settings)
    expect(code, step).toBe(0)
    expect(stdout).toMatch(output)
  }
  const worker = command.start(['worker'], settings)
  await worker.shows(steps.at(-1)?.output ?? /./)

  const others = ['Get started', 'Read the tables']
    .flatMap((heading) => blocksOf(sectionOf(heading), 'sh'))
    .flatMap((block) => block.trimEnd().split('\n'))
    .map(argumentsOf)
    // psql may be missing here, and the last command does not end.
    .filter(([name]) => name !== 'psql' && name !== 'changes')
  expect(others.length).toBeGreaterThan(7)
  for (const args of others) {
    const { code, stderr } = await command.run(args, settings)
    expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' })
  }
  worker.child.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
})

/** A service with one user and one comment. */
async function startService(): Promise<string> {
  const comment = { commentId: 42, commentText: 'Please check the total on page 12.', from: ANN }
  const service = await openFaultServer()
  service.usually = (response, request) =>
    success(request.url?.endsWith('/users/get') ? [ANN] : [comment])(response, request)
  return service.url
}
