import { access, constants, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import lockfile from 'proper-lockfile'
import * as z from 'zod'
import { readExportObjects } from './rows.ts'
import type { ExportObject } from './rows.ts'
import { codeOf } from '../../core/database/connection-errors.ts'
import type { Database } from '../../core/database/pool.ts'
import { CursorGoneError, UsageError } from '../../base/errors.ts'
import { exportObject, findObject, fullName } from './export-object.ts'
import type { Exported, ExportEvents, ExportRequest } from './export-object.ts'
import { writeTarget } from './target.ts'
import { writeAll } from './text.ts'

/** A state file: the last export, and the cursor of the next one. */
const STATE = z.strictObject({
  /** `schema.name`. */
  export: z.string(),
  organization: z.string().nullable(),
  columns: z.string().array(),
  cursor: z.string(),
  /** The file of the last export, and when it was last changed (nanoseconds since 1970), by which it is recognized. */
  file: z.string(),
  modified: z.string(),
})
type State = z.output<typeof STATE>

/** A killed process blocks the state file for at most this long. */
const STALE_MS = 5_000
const WAIT_MS = 250

/**
 * Exports the rows that changed since the previous export, or all rows the first time. The state file advances only when all
 * rows are on the disk: an export that ended earlier is repeated completely by the next one.
 * @throws UsageError for a state file that is invalid, of another export, or in use, and if the file of the previous export
 * is still there; as exportObject
 */
export async function exportByState(
  database: Database,
  request: ExportRequest,
  stateFile: string,
  { onRows, onWarning = () => {} }: Omit<ExportEvents, 'beforeComplete'> = {},
): Promise<Exported> {
  const object = findObject(await readExportObjects(database), request.object, true)
  const file = await realPlace(request.out)
  const path = await realPlace(stateFile)
  await checkOut(request.out, file, path)
  const lock = await lockState(path)
  try {
    const state = await readState(path)
    if (state !== null) await checkState(state, path, object, { ...request, out: file })
    const after = state?.cursor ?? null
    const events = { onRows, onWarning, beforeComplete: lock.check }
    const exported = await exportObject(database, { ...request, after }, events)
    await lock.check()
    const next: State = {
      export: exported.object,
      organization: request.organizationId,
      columns: object.columns.map(({ name }) => name),
      cursor: exported.cursor,
      file,
      modified: (await modified(file)) ?? '',
    }
    await writeTarget(path, onWarning, (out) => writeAll(out, `${JSON.stringify(next)}\n`))
    return exported
  } catch (error) {
    if (!(error instanceof CursorGoneError)) throw error
    throw new CursorGoneError(
      `${error.message} To do so, remove the state file ${path}, and load into an empty table.`,
      { cause: error },
    )
  } finally {
    await lock.release()
  }
}

/** The path without symbolic links; the file need not exist. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const parent = await realpath(dirname(resolve(path))).catch(() => dirname(resolve(path)))
    return join(parent, basename(path))
  }
}

async function checkOut(out: string, file: string, path: string): Promise<void> {
  const found = await stat(file).catch(() => null)
  if (out === '-' || found?.isFile() === false)
    throw new UsageError(
      '--state needs --out FILE: a pipe does not report whether all rows were stored.',
    )
  if (file === path) throw new UsageError('--state and --out name the same file.')
}

/**
 * Locks a state file. A file system that cannot lock it is refused, because two exports at once could lose changes.
 * @throws UsageError
 */
async function lockState(path: string) {
  // Waiting would not help.
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw new UsageError(`The state file ${path} cannot be written (${codeOf(error)}).`)
  })
  const release = await lockfile
    .lock(path, {
      realpath: false,
      stale: STALE_MS,
      // Longer than the lock of a killed process stays valid.
      retries: { retries: (1.5 * STALE_MS) / WAIT_MS, minTimeout: WAIT_MS, maxTimeout: WAIT_MS },
      // It is called late; `check` runs before each write.
      onCompromised: () => {},
    })
    .catch((error: unknown) => {
      const isLocked = codeOf(error) === 'ELOCKED'
      const why = isLocked
        ? 'is in use by another export'
        : `cannot be locked (${codeOf(error)}): use one on another file system`
      throw new UsageError(`The state file ${path} ${why}.`, { cause: error })
    })
  const identity = async () => {
    const found = await stat(`${path}.lock`, { bigint: true }).catch(() => null)
    return found === null ? null : `${found.ino} ${found.birthtimeNs}`
  }
  const own = await identity()
  const isOwn = async () => own !== null && (await identity()) === own
  return {
    /** @throws Error if another process took over the lock while this one was stopped */
    async check(): Promise<void> {
      if (!(await isOwn()))
        throw new Error(`Another export took over the state file ${path}: run this one again.`)
    },
    async release(): Promise<void> {
      if (await isOwn()) await release().catch(() => {})
    },
  }
}

/** @returns null if there is none yet */
async function readState(path: string): Promise<State | null> {
  try {
    return STATE.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new UsageError(
      `The file ${path} is not a state file: use another one, or remove it to begin with all rows.`,
      { cause: error },
    )
  }
}

async function checkState(
  { export: of, organization, columns, ...last }: State,
  path: string,
  object: ExportObject,
  { organizationId, out }: ExportRequest,
): Promise<void> {
  const describe = (name: string, only: string | null) =>
    only === null ? name : `${name} of the organization ${JSON.stringify(only)}`
  const [before, now] = [describe(of, organization), describe(fullName(object), organizationId)]
  if (before !== now)
    throw new UsageError(
      `The state file ${path} is for ${before}, not for ${now}: use another one.`,
    )
  if (columns.join() !== object.columns.map(({ name }) => name).join())
    throw new UsageError(
      `The columns of ${of} have changed since the previous export: remove the state file ${path}, and load all rows into an empty table with the new columns.`,
    )
  // A file of a killed export has another time, and is written again.
  if (last.file === out && last.modified === (await modified(out)))
    throw new UsageError(
      `The file ${out} of the previous export is still there: load it and remove it, or use another one.`,
    )
}

/** When a file was last changed; null if there is none. */
async function modified(file: string): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(() => null)
  return found === null ? null : `${found.mtimeNs}`
}
