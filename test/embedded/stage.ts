import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const REPOSITORY = resolve(import.meta.dirname, '../..')

/** A built copy of `src/worker/embedded` with its packages, where every user of the machine can run it. */
export interface Stage {
  directory: string
  /** A process that opens `home`, prints one JSON line, and closes it when its stdin ends. */
  holder(home: string, options?: { uid?: number; stage?: string }): Holder
  remove(): void
}

/** What a holder tells once it has the server open, or the error that it met. */
export interface Opened {
  url?: string
  created?: boolean
  error?: { name: string; message: string }
}

export interface Holder {
  process: ChildProcess
  opened: Promise<Opened>
  /** Ends its stdin and waits for it; the exit code. */
  close(): Promise<number | null>
  kill(): Promise<void>
}

const HOLDER = `
import { openEmbeddedPostgres } from './src/worker/embedded/open-embedded-postgres.js'
try {
  const { url, created, close } = await openEmbeddedPostgres({ home: process.argv[2], log: console.error })
  console.log(JSON.stringify({ url, created }))
  for await (const _ of process.stdin);
  await close()
} catch (error) {
  console.log(JSON.stringify({ error: { name: error.name, message: error.message } }))
  process.exitCode = 1
}
`

export function makeStage(): Stage {
  const directory = mkdtempSync(join(tmpdir(), 'collab-sync-stage-'))
  chmodSync(directory, 0o755)
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: join(REPOSITORY, 'tsconfig.json'),
      compilerOptions: { rootDir: REPOSITORY, outDir: directory, declaration: false, types: [] },
      files: [join(REPOSITORY, 'src/worker/embedded/open-embedded-postgres.ts')],
      include: [],
    }),
  )
  const compiler = join(REPOSITORY, 'node_modules/.bin/tsc')
  execFileSync(compiler, ['-p', directory, '--noCheck'], { stdio: 'inherit' })
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  writeFileSync(join(directory, 'holder.js'), HOLDER)
  for (const name of ['pg', 'proper-lockfile', 'embedded-postgres']) copyPackage(directory, name)
  // A node that only its owner can run, as one from a version manager in /root is, would not do.
  cpSync(process.execPath, join(directory, 'node'))
  return {
    directory,
    holder: (home, { uid, stage = directory } = {}) => hold(home, stage, uid),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function copyPackage(directory: string, name: string): void {
  const source = join(REPOSITORY, 'node_modules', name)
  const target = join(directory, 'node_modules', name)
  // Packages for other platforms are not installed.
  if (existsSync(target) || !existsSync(source)) return
  mkdirSync(dirname(target), { recursive: true })
  cpSync(source, target, { recursive: true, verbatimSymlinks: true })
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(source, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string> | undefined>
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies }))
    copyPackage(directory, needed)
}

function hold(home: string, stage: string, uid: number | undefined): Holder {
  const child = spawn(join(stage, 'node'), [join(stage, 'holder.js'), home], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  const told: string[] = []
  child.stderr.on('data', (chunk) => told.push(String(chunk)))
  const exited = once(child, 'exit') as Promise<[number | null]>
  const line = once(createInterface(child.stdout), 'line') as Promise<[string]>
  return {
    process: child,
    opened: Promise.race([
      line.then(([text]) => JSON.parse(text) as Opened),
      exited.then(async ([code]) => {
        // Its line may still be on the way when the exit is told.
        const late = await Promise.race([
          line,
          new Promise<null>((done) => setTimeout(done, 1000, null)),
        ])
        if (late !== null) return JSON.parse(late[0]) as Opened
        throw new Error(`the holder ended with ${code}: ${told.join('')}`)
      }),
    ]),
    close: async () => {
      child.stdin.end()
      return (await exited)[0]
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
