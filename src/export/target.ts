import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, realpath, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { codeOf } from '../database/pool.ts'
import { UsageError } from '../errors.ts'

/** Where an export goes: whole, or not at all. */
export interface Target {
  readonly out: Writable
  /** Everything is written, and on the disk: a file gets its name. */
  complete(): Promise<void>
  /** Something went wrong: of a file nothing is left. */
  abandon(): Promise<void>
}

/**
 * A file is written beside its place and renamed when everything is in it: for its owner alone where it is new, with the
 * mode of the one that it replaces where there is one. A symbolic link stays, and what it leads to is replaced. A device
 * or a FIFO is written to as it is.
 * @param path a file, a device or a FIFO; or `-` for standard output
 * @throws UsageError where it cannot be written
 */
export async function openTarget(path: string): Promise<Target> {
  if (path === '-') return standardOutput()
  try {
    const existing = await openExisting(path)
    if (existing === null) return await file(path, 0o600)
    const stat = await existing.stat()
    if (!stat.isFile()) return stream(existing)
    await existing.close()
    return await file(await realpath(path), stat.mode & 0o777)
  } catch (error) {
    throw new UsageError(`The file ${path} cannot be written (${codeOf(error)}).`, { cause: error })
  }
}

/** The reader of standard output went away, as `head` does: nobody wants the rest. */
export function isReaderGone(error: unknown): boolean {
  return codeOf(error) === 'EPIPE'
}

function standardOutput(): Target {
  return { out: process.stdout, complete: async () => {}, abandon: async () => {} }
}

/** By opening it, so that the kernel's own rules on links and modes hold; null where there is nothing. */
async function openExisting(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_WRONLY)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

function stream(handle: FileHandle, flush = false): Target {
  const out = handle.createWriteStream({ flush })
  out.on('error', () => {})
  return {
    out,
    async complete() {
      out.end()
      await finished(out)
    },
    async abandon() {
      out.destroy()
    },
  }
}

async function file(path: string, mode: number): Promise<Target> {
  // In the same directory, so that it can be renamed; of a name that nobody can guess and prepare.
  const partial = `${path}.partial-${randomBytes(6).toString('hex')}`
  const handle = await open(partial, 'wx', 0o600)
  const { out, complete, abandon } = stream(handle, true)
  return {
    out,
    async complete() {
      // Not by `open`: the umask would take from it.
      await handle.chmod(mode)
      await complete()
      await rename(partial, path)
      await flushDirectory(dirname(path))
    },
    async abandon() {
      await abandon()
      await rm(partial, { force: true })
    },
  }
}

/** The name too is there after a power cut. */
async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** A format that is written row by row. */
export interface RowFormat {
  /** What comes before the first row. */
  readonly head: string
  /** One row; values are PostgreSQL's texts. */
  row(values: readonly (string | null)[]): string
}

/** Hears how many rows are written so far. */
export type OnRows = (rows: number) => void

/** Characters that are gathered before they are written: a write for every row would take most of the time. */
const CHUNK_CHARACTERS = 64 * 1024

/** Writes rows as text, no faster than `out` takes them. @returns how many */
export async function writeText(
  rows: Readable,
  out: Writable,
  format: RowFormat,
  onRows: OnRows,
): Promise<number> {
  let count = 0
  let chunk = format.head
  for await (const values of rows as AsyncIterable<(string | null)[]>) {
    chunk += format.row(values)
    count += 1
    if (chunk.length < CHUNK_CHARACTERS) continue
    await writeAll(out, chunk)
    chunk = ''
    onRows(count)
  }
  await writeAll(out, chunk)
  return count
}

/** Resolves when `out` has taken the chunk, however slow its reader is. @throws the error of `out`, such as EPIPE */
export async function writeAll(out: Writable, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) =>
    out.write(chunk, (error) => (error ? reject(error) : resolve())),
  )
}
