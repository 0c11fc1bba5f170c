import { randomBytes } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { open, realpath, rename, rm, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { codeOf } from '../../core/database/connection-errors.ts'
import { EnvironmentError, UsageError } from '../../base/errors.ts'

/** Where an export goes: whole, or not at all. */
export interface Target {
  readonly out: Writable
  /** Everything is written, and on the disk: a file gets its name. */
  complete(): Promise<void>
  /** Something went wrong: of a file nothing is left. @returns what to throw: `error`, or a sentence about the file for it */
  abandon(error: unknown): Promise<unknown>
}

/** Is called with a sentence where a file is written, but not in every respect as promised. */
export type OnWarning = (sentence: string) => void

/** The calls that a file system may refuse although it can hold the file: network drives (SMB, FUSE), mounted files. */
export interface FileCalls {
  setMode(file: FileHandle, mode: number): Promise<void>
  /** Of a file, or of the directory that has its name. */
  sync(handle: FileHandle): Promise<void>
  rename(from: string, to: string): Promise<void>
}

const CALLS: FileCalls = {
  setMode: (file, mode) => file.chmod(mode),
  sync: (handle) => handle.sync(),
  rename,
}

/**
 * What a file system says that does not have a mode, a sync or a rename, such as SMB for directories. That ends no export;
 * other errors do, with a sentence. So does a directory in which no file can be created: writing into the file of before
 * could destroy it.
 */
const REFUSALS = 'EINVAL ENOTSUP ENOSYS EPERM EACCES EISDIR EBADF EBUSY EXDEV'.split(' ')

/**
 * A file is written beside its place and renamed when everything is in it: for its owner alone where it is new, with the
 * mode of the one that it replaces where there is one. A symbolic link stays, and what it leads to is replaced. A device
 * or a FIFO is written to as it is.
 * @param path a file, a device or a FIFO; or `-` for standard output
 * @throws UsageError where it cannot be written
 */
export async function openTarget(
  path: string,
  onWarning: OnWarning = () => {},
  calls: FileCalls = CALLS,
): Promise<Target> {
  if (path === '-') return standardOutput()
  try {
    const existing = await openExisting(path)
    if (existing === null) return await file(path, 0o600, onWarning, calls)
    const stat = await existing.stat()
    if (!stat.isFile()) return stream(path, existing)
    await existing.close()
    return await file(await realpath(path), stat.mode & 0o777, onWarning, calls)
  } catch (error) {
    throw new UsageError(`The file ${path} cannot be written (${codeOf(error)}).`, { cause: error })
  }
}

/** The reader of standard output went away, as `head` does: nobody wants the rest. */
export function isReaderGone(error: unknown): boolean {
  return codeOf(error) === 'EPIPE'
}

function standardOutput(): Target {
  return { out: process.stdout, complete: async () => {}, abandon: async (error) => error }
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

function stream(path: string, handle: FileHandle): Target {
  const out = handle.createWriteStream()
  out.on('error', () => {})
  return {
    out,
    async complete() {
      out.end()
      await finished(out)
    },
    async abandon(error) {
      const isOurs = error === out.errored
      out.destroy()
      return isOurs ? fileError(path, error) : error
    },
  }
}

async function file(
  path: string,
  mode: number,
  onWarning: OnWarning,
  calls: FileCalls,
): Promise<Target> {
  // In the same directory, so that it can be renamed; of a name that nobody can guess and prepare.
  const partial = `${path}.partial-${randomBytes(6).toString('hex')}`
  const handle = await open(partial, 'wx', 0o600)
  const { out, complete, abandon } = stream(path, handle)
  /** @returns the code of a refusal that does not matter; null where it is done */
  const attempt = async (work: () => Promise<void>): Promise<string | null> => {
    try {
      await work()
      return null
    } catch (error) {
      const code = codeOf(error) ?? ''
      if (REFUSALS.includes(code)) return code
      throw fileError(path, error)
    }
  }
  const remove = () => rm(partial, { force: true }).catch(() => {})
  return {
    out,
    async complete() {
      // Not by `open`: the umask would take from it.
      await attempt(() => calls.setMode(handle, mode))
      const has = (await handle.stat()).mode & 0o777
      if (has !== mode)
        onWarning(
          `The file ${path} has the mode ${octal(has)} and not ${octal(mode)}: its file system does not keep modes.`,
        )
      await attempt(() => calls.sync(handle))
      await complete()
      const refusal = await attempt(() => calls.rename(partial, path))
      if (refusal !== null) {
        onWarning(
          `The file ${path} cannot be replaced (${refusal}), so it is overwritten in place: an interruption leaves it incomplete.`,
        )
        const sync = (copy: FileHandle) => attempt(() => calls.sync(copy))
        await copyInto(path, partial, sync).catch((error: unknown) => {
          throw error instanceof EnvironmentError ? error : fileError(path, error)
        })
        await remove()
      }
      await attempt(() => syncDirectory(dirname(path), calls.sync))
    },
    async abandon(error) {
      const thrown = await abandon(error)
      await remove()
      return thrown
    },
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

function fileError(path: string, error: unknown): EnvironmentError {
  return new EnvironmentError(`The file ${path} could not be written (${codeOf(error)}).`, {
    cause: error,
  })
}

/** Writes the content of another file into one that cannot be replaced. */
async function copyInto(
  path: string,
  from: string,
  sync: (handle: FileHandle) => Promise<unknown>,
): Promise<void> {
  const handle = await open(path, 'w')
  try {
    await writeFile(handle, createReadStream(from))
    await sync(handle)
  } finally {
    await handle.close()
  }
}

/** The name too is there after a power cut. */
async function syncDirectory(path: string, sync: FileCalls['sync']): Promise<void> {
  const directory = await open(path)
  try {
    await sync(directory)
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

/** Is called with how many rows are written so far. */
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
