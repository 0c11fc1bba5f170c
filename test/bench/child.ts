import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Readable } from 'node:stream'

/** What a process used from its start to its end. */
export interface ProcessUsage {
  readonly seconds: number
  /** User and system, with the start of Node. */
  readonly cpuS: number
  /** The most memory that it held. */
  readonly peakMb: number
}

/** `collab-sync` as it is installed: `run.js` bundles it. */
export const COMMAND = join(import.meta.dirname, '../../dist/cli/main.js')

/** Runs a command of `collab-sync` to its end. @throws unless its exit code is 0 */
export function runCommand(args: readonly string[], environment: Record<string, string>) {
  return runProgram([COMMAND, ...args], environment)
}

/**
 * Runs a program to its end.
 * @param args its file and its arguments
 * @throws unless its exit code is 0
 */
export async function runProgram(
  args: readonly string[],
  environment: Record<string, string>,
): Promise<ProcessUsage> {
  const startedMs = performance.now()
  const usage = join(import.meta.dirname, 'usage.js')
  const child = spawn(process.execPath, ['--import', usage, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
  const ended = new Promise<{ code: number | null; seconds: number }>((resolve) =>
    child.once('exit', (code) =>
      resolve({ code, seconds: (performance.now() - startedMs) / 1000 }),
    ),
  )
  const [{ code, seconds }, used] = await Promise.all([ended, text(child.stdio[3] as Readable)])
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}.`)
  return { seconds, ...JSON.parse(used) }
}
