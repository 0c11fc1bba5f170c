import { randomBytes } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { open, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { codeOf } from '../../core/database/connection-errors.ts'
import { EnvironmentError, UsageError } from '../../base/errors.ts'

/** Called with a sentence if a file is written without the mode or the replacement that writeTarget promises. */
export type OnWarning = (sentence: string) => void

/**
 * Codes with which a file system refuses a mode, a sync or a rename that it does not support, such as SMB for directories.
 * They do not stop an export. Other errors do, and so does a directory in which no file can be created: writing into the
 * previous file could destroy it.
 */
const REFUSALS = 'EINVAL ENOTSUP ENOSYS EPERM EACCES EISDIR EBADF EBUSY EXDEV'.split(' ')

/**
 * Writes a complete file or none: beside `path`, then renamed. A new file is readable only by its owner; a replacement
 * keeps the mode. A symbolic link stays, and the file that it points to is replaced. A device or a FIFO is written directly.
 * @param path a file, a device or a FIFO; or `-` for standard output
 * @throws UsageError if it cannot be opened; EnvironmentError if it cannot be written; EPIPE if the reader closed a pipe
 */
export async function writeTarget(
  path: string,
  onWarning: OnWarning,
  write: (out: Writable) => Promise<void>,
): Promise<void> {
  if (path === '-') return write(process.stdout)
  const { handle, file } = await openTarget(path).catch((error: unknown) => {
    throw new UsageError(`The file ${path} cannot be written (${codeOf(error)}).`, { cause: error })
  })
  const out = handle.createWriteStream()
  out.on('error', () => {})
  let isWritten = false
  try {
    await write(out)
    isWritten = true
    if (file !== null) {
      // Not by `open`, because the umask would reduce it.
      await attempt(() => handle.chmod(file.mode))
      const mode = (await handle.stat()).mode & 0o777
      if (mode !== file.mode)
        onWarning(
          `The file ${path} has the mode ${octal(mode)} instead of ${octal(file.mode)}: its file system does not keep modes.`,
        )
      await attempt(() => handle.sync())
    }
    out.end()
    await finished(out)
    if (file !== null) await replace(path, file, onWarning)
  } catch (error) {
    out.destroy()
    if (file !== null) await rm(file.partial, { force: true }).catch(() => {})
    if (isReaderGone(error) || !(isWritten || error === out.errored)) throw error
    throw new EnvironmentError(`The file ${path} could not be written (${codeOf(error)}).`, {
      cause: error,
    })
  }
}

/** True if the reader of a pipe closed it, as `head` does. */
export function isReaderGone(error: unknown): boolean {
  return codeOf(error) === 'EPIPE'
}

/** By opening it, so that the kernel applies its own rules for links and modes. `file` is null for a device or a FIFO. */
async function openTarget(path: string) {
  const existing = await open(path, constants.O_WRONLY).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  })
  const found = await existing?.stat()
  if (existing && !found?.isFile()) return { handle: existing, file: null }
  await existing?.close()
  const real = found ? await realpath(path) : path
  // In the same directory, so that it can be renamed, with a name that no other user can guess and create.
  const partial = `${real}.partial-${randomBytes(6).toString('hex')}`
  const file = { real, partial, mode: found ? found.mode & 0o777 : 0o600 }
  return { handle: await open(partial, 'wx', 0o600), file }
}

async function replace(
  path: string,
  { real, partial }: { readonly real: string; readonly partial: string },
  onWarning: OnWarning,
): Promise<void> {
  const refusal = await attempt(() => rename(partial, real))
  if (refusal !== null) {
    onWarning(
      `The file ${path} cannot be replaced (${refusal}), so it is overwritten in place: an interruption leaves it incomplete.`,
    )
    await writeFile(real, createReadStream(partial))
    await attempt(() => sync(real))
    await rm(partial, { force: true })
  }
  // So that the name too exists after a power failure.
  await attempt(() => sync(dirname(real)))
}

async function sync(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** @returns the code of a refusal, null if there was none */
async function attempt(work: () => Promise<void>): Promise<string | null> {
  try {
    await work()
    return null
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (REFUSALS.includes(code)) return code
    throw error
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}
