import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'
// What is injected is declared there; the fuzzer compiles this file by itself.
import type {} from './global-setup.ts'
import { until } from './until.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** Programs of tests that run as processes of their own. */
const MAINS = ['test/cli/command-host.ts', 'test/faults/worker-main.ts', 'test/service/main.ts']

/**
 * A folder with the program as `npm run build` builds it, and with {@link MAINS}, below `dist`: tests neither trust an old build
 * nor replace one. Built by the first who asks, for the whole run, which removes it. Its types are checked elsewhere.
 */
export async function builtProgram(): Promise<string> {
  const folder = join(inject('runFolder'), 'program')
  const isFirst = await mkdir(folder).then(
    () => true,
    () => false,
  )
  if (isFirst) await build(folder)
  return until('the program is built', () => existsSync(join(folder, BUILT)) && folder)
}

/** Written when the program is complete. */
const BUILT = 'built'

async function build(folder: string): Promise<void> {
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const name of ['docs', 'sql']) await symlink(join(root, name), join(folder, name))
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        rootDir: root,
        outDir: join(folder, 'dist'),
        typeRoots: [join(root, 'node_modules/@types')],
        noCheck: true,
      },
      files: MAINS.map((file) => join(root, file)),
      include: [join(root, 'src'), join(root, 'jobs')],
    }),
  )
  const tsc = join(root, 'node_modules/.bin/tsc')
  await run(tsc, ['--project', join(folder, 'tsconfig.json')]).catch((error) => {
    throw new Error(`The program cannot be built:\n${error.stdout}`)
  })
  await run('npm', ['run', 'bundle', '--', '--dir', join(folder, 'dist/cli')], { cwd: root })
  await writeFile(join(folder, BUILT), '')
}
