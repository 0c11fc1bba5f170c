import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ControlOrder } from '../service/control.ts'

/** The generated world that is served; every parent holds exactly so many. */
export interface WorldSize {
  readonly organizations: number
  /** In an organization. */
  readonly documents: number
  /** In a document. */
  readonly annotations: number
  /** In an annotation. */
  readonly comments: number
  readonly users: number
  readonly groups: number
}

export interface StandInProcess {
  readonly url: string
  readonly apiKey: string
  readonly authToken: string
  control(order?: ControlOrder): Promise<StandInState>
  close(): Promise<void>
}

export interface StandInState {
  readonly total: number
  /** When the first call since `resetCalls` arrived, and when the last response was sent: epoch milliseconds. */
  readonly firstAtMs: number | null
  readonly lastAtMs: number | null
}

/** Starts the stand-in for the service as a process of its own, so that its work is not counted as ours. */
export async function startStandInProcess(
  world: WorldSize,
  flags: readonly string[],
): Promise<StandInProcess> {
  const program = join(import.meta.dirname, '../service/main.js')
  const sizes = Object.entries(world).flatMap(([name, size]) => [`--${name}`, String(size)])
  const child = spawn(
    process.execPath,
    [program, ...sizes, '--no-skew', '--exit-with-stdin', ...flags],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`The stand-in ended with ${code}.`)))
  })
  const { url, apiKey, authToken, controlUrl } = JSON.parse(line)
  return {
    url,
    apiKey,
    authToken,
    async control(order) {
      const request = order === undefined ? {} : { method: 'POST', body: JSON.stringify(order) }
      const response = await fetch(controlUrl, request)
      if (!response.ok) throw new Error(await response.text())
      return (await response.json()) as StandInState
    },
    close: () =>
      new Promise((resolve) => {
        child.removeAllListeners('exit')
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}
