import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { closedAtEnd } from './closing.ts'
import { builtProgram } from './program.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../..')

type Environment = Readonly<Record<string, string>>

/** A program of a user in a folder of its own, with the package installed from its tarball. */
export interface Installed {
  /** Compiles `NAME.ts` files to `NAME.js` beside them. @returns what tsc reports; empty if nothing is wrong */
  compile(files: Readonly<Record<string, string>>): Promise<string>
  /** Runs a module of the folder to its end. @returns its output. @throws if it fails or writes to stderr */
  runModule(file: string, environment: Environment): Promise<string>
  /** Runs a text in a shell that finds `collab-sync`. @returns its output. @throws if it fails */
  runShell(text: string, environment: Environment): Promise<string>
  /** Starts a command that logs its readiness. @returns the first log line that has this message */
  start(args: string[], environment: Environment, message: string): Promise<Record<string, string>>
  write(file: string, text: string): Promise<void>
}

/** Packs the program as it is built, and installs it with its dependencies in this checkout; removed at the end of the test or file. */
export async function installPacked(): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), 'consumer-'))
  const ended: (() => Promise<unknown>)[] = []
  closedAtEnd(async () => {
    for (const end of ended) await end()
    await rm(folder, { recursive: true, force: true })
  })
  await installInto(folder)
  const environmentOf = (environment: Environment) => ({
    PATH: [join(folder, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    HOME: process.env['HOME'],
    ...environment,
  })
  const write = (file: string, text: string) => writeFile(join(folder, file), text)
  return {
    write,
    async compile(files) {
      const names = Object.keys(files).map((name) => `${name}.ts`)
      for (const [name, text] of Object.entries(files)) await write(`${name}.ts`, text)
      const flags = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node']
      return run(join(ROOT, 'node_modules/.bin/tsc'), [...flags, ...names], { cwd: folder }).then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      )
    },
    async runModule(file, environment) {
      const env = environmentOf(environment)
      const { stdout, stderr } = await run(process.execPath, [file], { cwd: folder, env })
      if (stderr !== '') throw new Error(stderr)
      return stdout
    },
    async runShell(text, environment) {
      const options = { cwd: folder, env: environmentOf(environment) }
      return (await run('sh', ['-ec', text], options)).stdout
    },
    async start(args, environment, message) {
      const main = join(folder, 'node_modules/.bin/collab-sync')
      const child = spawn(process.execPath, [main, ...args], {
        cwd: folder,
        env: environmentOf({ LOG_LEVEL: 'info', ...environment }),
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const exited = once(child, 'exit')
      ended.push(async () => {
        child.kill('SIGTERM')
        await exited
      })
      let seen = ''
      for await (const part of child.stderr.iterator({ destroyOnReturn: false })) {
        seen += part
        const line = seen.split('\n').find((each) => each.includes(`"msg":"${message}"`))
        if (line === undefined) continue
        child.stderr.resume()
        return JSON.parse(line)
      }
      throw new Error(`collab-sync ${args.join(' ')} ended: ${seen}`)
    },
  }
}

async function installInto(folder: string): Promise<void> {
  const packages = join(folder, 'node_modules')
  const place = join(packages, 'collab-sync')
  await mkdir(join(packages, '.bin'), { recursive: true })
  await mkdir(place)
  // npm packs no symbolic links, and the built program has `docs` and `sql` as such.
  const staged = join(folder, 'staged')
  for (const name of ['package.json', 'docs', 'sql'])
    await cp(join(ROOT, name), join(staged, name), { recursive: true })
  await cp(join(await builtProgram(), 'dist'), join(staged, 'dist'), { recursive: true })
  const pack = ['pack', '--ignore-scripts', '--pack-destination', folder]
  await run('npm', pack, { cwd: staged })
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? ''
  await run('tar', ['-xzf', join(folder, archive), '--strip-components', '1', '-C', place])
  for (const name of await installedPackages()) {
    await mkdir(dirname(join(packages, name)), { recursive: true })
    await symlink(join(ROOT, 'node_modules', name), join(packages, name))
  }
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  // As npm does with the commands of a package.
  const { bin } = JSON.parse(await readFile(join(place, 'package.json'), 'utf8'))
  const command = join(place, bin['collab-sync'])
  await chmod(command, 0o755)
  await symlink(command, join(packages, '.bin/collab-sync'))
}

/** The packages that npm installs with ours, without those that only this checkout has. */
async function installedPackages(): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))
  const packages: [string, { dev?: true }][] = Object.entries(lock.packages)
  return packages
    .filter(([path, { dev }]) => !dev && /^node_modules\/(?!.*\/node_modules\/)/.test(path))
    .map(([path]) => path.slice('node_modules/'.length))
    .filter((name) => existsSync(join(ROOT, 'node_modules', name)))
}
