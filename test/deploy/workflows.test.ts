import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, expect, test } from 'vitest'
import { ownFolder } from '../helpers/own-folder.ts'
import { fileText, yamlDocuments } from './yaml-files.ts'

/** What the workflows of GitHub promise. They are not started here, but the scripts of the release run. */

const run = promisify(execFile)
const [ci] = yamlDocuments('.github/workflows/ci.yml')
const [release] = yamlDocuments('.github/workflows/release.yml')
const { test: tests } = ci.jobs

let folder: string

beforeEach(() => {
  folder = ownFolder()
})

test('each push and pull request runs .ci/run on the versions that docs/VERSIONS.md lists', () => {
  expect(Object.keys(ci.on)).toEqual(expect.arrayContaining(['push', 'pull_request']))
  expect(scriptsOf(tests)).toEqual(['.ci/run'])
  const { node, postgres } = tests.strategy.matrix
  const [, redis] = tests.services.redis.image.split(':')
  expect(tests.services.postgres.image).toBe('postgres:${{ matrix.postgres }}')
  expect(rowOf('Node.js')[1]).toBe(node.join(', '))
  expect(rowOf('PostgreSQL')).toEqual([
    `${postgres.at(0)} to ${postgres.at(-1)}`,
    postgres.join(', '),
  ])
  expect(rowOf('Redis')[1]).toBe(redis)
  const { engines } = JSON.parse(fileText('package.json'))
  expect(engines.node).toBe(`>=${rowOf('Node.js')[0]?.replace(' or newer', '')}`)
  expect(engines.node).toMatch(new RegExp(`^>=${node[0]}\\.`))
})

test('a tag publishes nothing until the same checks have passed', () => {
  expect(release.on).toEqual({ push: { tags: [expect.stringMatching(/^v/)] } })
  expect(release.jobs.check.uses).toBe('./.github/workflows/ci.yml')
  expect(ci.on).toHaveProperty('workflow_call')
  const { version, check, ...others } = release.jobs
  expect([version.needs, check.needs]).toEqual([undefined, 'version'])
  for (const name of Object.keys(others)) expect(neededBy(name)).toContain('check')
})

test('a job may write only what it publishes', () => {
  for (const { permissions } of [ci, release]) expect(permissions).toEqual({ contents: 'read' })
  const jobs = Object.entries<any>({ ...ci.jobs, ...release.jobs })
  const writes = jobs.flatMap(([name, { permissions = {} }]) =>
    Object.keys(permissions)
      .filter((each) => permissions[each] === 'write')
      .map((each) => `${name}: ${each}`),
  )
  expect(writes.sort()).toEqual([
    'image: id-token',
    'image: packages',
    'notes: contents',
    'npm: id-token',
  ])
})

test('a tag is refused if package.json has another version, or CHANGELOG.md no section', async () => {
  const [script = ''] = scriptsOf(release.jobs.version)
  const isAccepted = async (tag: string, heading: string) => {
    await writeFile(join(folder, 'package.json'), '{ "version": "1.2.3" }')
    await writeFile(join(folder, 'CHANGELOG.md'), `# Changelog\n\n${heading}\n`)
    return runScript(script, tag).then(
      () => true,
      () => false,
    )
  }
  expect(await isAccepted('v1.2.3', '## [1.2.3] - 2026-12-01')).toBe(true)
  expect(await isAccepted('v1.2.4', '## [1.2.3] - 2026-12-01')).toBe(false)
  expect(await isAccepted('v1.2.3', '## [1.2.2] - 2026-12-01')).toBe(false)
  expect(await isAccepted('v1.2.3', '## [Unreleased]')).toBe(false)
})

test('the notes of a release are its section of CHANGELOG.md', async () => {
  const sections = [
    '[Unreleased]\n\nNext.',
    '[1.2.3] - 2026-12-01\n\n### Syncing\n\nThis.',
    '[1.2.2]\n\nOld.',
  ]
  await writeFile(join(folder, 'CHANGELOG.md'), sections.map((each) => `## ${each}\n`).join('\n'))
  // Prints the file of its last argument.
  await writeFile(join(folder, 'gh'), '#!/bin/sh\nfor file; do :; done\ncat "$file"\n')
  await chmod(join(folder, 'gh'), 0o755)
  const { stdout } = await runScript(scriptsOf(release.jobs.notes).at(-1) ?? '', 'v1.2.3')
  expect(stdout.trim()).toBe('### Syncing\n\nThis.')
})

function scriptsOf({ steps }: { steps: { run?: string }[] }): string[] {
  return steps.flatMap(({ run: script }) => (script === undefined ? [] : [script]))
}

/** Runs a script of a step as GitHub does, in the folder of the test. @throws if it fails */
function runScript(script: string, tag: string) {
  const env = { ...process.env, GITHUB_REF_NAME: tag, PATH: `${folder}:${process.env['PATH']}` }
  return run('bash', ['-ec', script], { cwd: folder, env })
}

/** Every job that must succeed before this one. */
function neededBy(name: string): string[] {
  const needs: string[] = [release.jobs[name].needs ?? []].flat()
  return [...needs, ...needs.flatMap(neededBy)]
}

/** What docs/VERSIONS.md supports and tests of a part. */
function rowOf(part: string): string[] {
  const row = fileText('docs/VERSIONS.md').split('\n').find((line) => line.startsWith(`| ${part} `)) // prettier-ignore
  return row?.split('|').slice(2, 4).map((cell) => cell.trim()) ?? [] // prettier-ignore
}
