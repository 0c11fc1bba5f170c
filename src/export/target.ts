import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import type { Writable } from 'node:stream'
import { UsageError } from '../errors.ts'
import { codeOf } from '../database/pool.ts'

/** Where an export goes: whole, or not at all. */
export interface Target {
  readonly out: Writable
  /** Everything is written: a file gets its name. */
  complete(): Promise<void>
  /** Something went wrong: of a file nothing is left. */
  abandon(): Promise<void>
}

/**
 * @param path a file, which is replaced when everything is written; or `-` for standard output
 * @throws UsageError where the file cannot be written
 */
export async function openTarget(path: string): Promise<Target> {
  return path === '-' ? standardOutput() : file(path)
}

/** The reader of standard output went away, as `head` does: nobody wants the rest. */
export function isReaderGone(error: unknown): boolean {
  return codeOf(error) === 'EPIPE'
}

function standardOutput(): Target {
  const out = process.stdout
  // Whoever writes next is told; without a listener the process would end here and now.
  out.on('error', () => {})
  return { out, complete: async () => {}, abandon: async () => {} }
}

async function file(path: string): Promise<Target> {
  // In the same directory, so that it can be renamed; a name of its own for every process.
  const partial = `${path}.partial-${process.pid}`
  const out = createWriteStream(partial)
  out.on('error', () => {})
  try {
    await new Promise((resolve, reject) => out.once('open', resolve).once('error', reject))
  } catch (error) {
    throw new UsageError(`The file ${path} cannot be written (${codeOf(error)}).`, { cause: error })
  }
  return {
    out,
    async complete() {
      out.end()
      await finished(out)
      await rename(partial, path)
    },
    async abandon() {
      out.destroy()
      await rm(partial, { force: true })
    },
  }
}
