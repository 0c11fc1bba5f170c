import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Runs `collab-sync run` to its end.
 * @returns the most memory that it held, in MB, and how long it took
 */
export async function peakOfRun(
  environment: Record<string, string>,
  program = PROGRAM,
): Promise<{ peakMb: number; seconds: number; run: Record<string, unknown> }> {
  let printed = ''
  const args = ['run', '--json']
  const peak = await peakOf(args, environment, (text) => (printed += text), program)
  return { ...peak, run: JSON.parse(printed) }
}

/**
 * Runs a command to its end.
 * @param onText hears what it prints
 */
export async function peakOf(
  args: readonly string[],
  environment: Record<string, string>,
  onText: (text: string) => void = () => {},
  program = PROGRAM,
): Promise<{ peakMb: number; seconds: number }> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.setEncoding('utf8').on('data', onText)
  let peakMb = 0
  const watch = setInterval(async () => {
    // The kernel keeps the peak, so that the last look before the end has it all but for the last moment.
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    const kb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0)
    peakMb = Math.max(peakMb, kb / 1000)
  }, 20)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  clearInterval(watch)
  if (code !== 0) throw new Error(`collab-sync ${args[0]} ended with ${code}.`)
  return { peakMb, seconds: (performance.now() - startedMs) / 1000 }
}

const PROGRAM = join(import.meta.dirname, '../../src/cli/main.js')
