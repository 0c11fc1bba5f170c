import { execFile } from 'node:child_process'
import { cp, mkdtemp, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'
// What is injected is declared there; the fuzzer compiles this file by itself.
import type {} from './global-setup.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** Programs of tests that run as processes of their own. */
const MAINS = ['test/cli/command-host.ts', 'test/faults/worker-main.ts', 'test/service/main.ts']

/**
 * A folder with the program as tsc builds it, and with {@link MAINS}, below `dist`: tests neither trust an old build
 * nor replace one. Built by the first who asks, for the whole run, which removes it.
 */
export async function builtProgram(): Promise<string> {
  const folder = join(inject('runFolder'), 'program')
  if (await isThere(folder)) return folder
  const unfinished = await mkdtemp(join(inject('runFolder'), 'build-'))
  await cp(join(root, 'package.json'), join(unfinished, 'package.json'))
  await symlink(join(root, 'node_modules'), join(unfinished, 'node_modules'))
  await symlink(join(root, 'sql'), join(unfinished, 'sql'))
  await writeFile(
    join(unfinished, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        rootDir: root,
        outDir: join(unfinished, 'dist'),
        typeRoots: [join(root, 'node_modules/@types')],
      },
      files: MAINS.map((file) => join(root, file)),
      include: [join(root, 'src'), join(root, 'jobs')],
    }),
  )
  const tsc = join(root, 'node_modules/.bin/tsc')
  await run(tsc, ['--project', join(unfinished, 'tsconfig.json')]).catch((error) => {
    throw new Error(`The program cannot be built:\n${error.stdout}`)
  })
  // Of two who built it at once the first wins; the other's is as good.
  await rename(unfinished, folder).catch(async (error: unknown) => {
    if (!(await isThere(folder))) throw error
    await rm(unfinished, { recursive: true, force: true })
  })
  return folder
}

async function isThere(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    () => false,
  )
}
