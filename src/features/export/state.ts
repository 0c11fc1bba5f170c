import fs from 'node:fs'
import { access, constants, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import lockfile from 'proper-lockfile'
import * as z from 'zod'
import { readExportObjects } from './rows.ts'
import type { CopyObject } from './rows.ts'
import { codeOf } from '../../core/database/connection-errors.ts'
import type { Database } from '../../core/database/pool.ts'
import { CursorGoneError, UsageError } from '../../base/errors.ts'
import { exportObject, findCopy, fullName } from './export-object.ts'
import type { Exported, ExportEvents, ExportRequest } from './export-object.ts'
import { openTarget, writeAll } from './target.ts'
import type { OnWarning } from './target.ts'

/** What a state file holds: what was exported last, and from where to go on. */
const STATE = z.strictObject({
  /** `schema.name`. */
  export: z.string(),
  organization: z.string().nullable(),
  columns: z.string().array(),
  cursor: z.string(),
  /** The file of the last export, and when it was last changed (nanoseconds since 1970): one that is there is known by it. */
  file: z.string(),
  modified: z.string(),
})
type State = z.output<typeof STATE>

/** A process that was killed holds the file so long at most. */
const STALE_MS = 5_000
const WAIT_MS = 250

/**
 * Exports what changed since the export before, or all rows where there was none yet, and keeps in a file from where to go
 * on: once all of it is on the disk, so that whatever ended before is repeated whole by the next one.
 * @throws UsageError for a state file that is no such, of something else, or in use; for a file of the export before that
 * nobody took away; as exportObject
 */
export async function exportByState(
  database: Database,
  request: ExportRequest,
  stateFile: string,
  { onRows, onWarning }: Omit<ExportEvents, 'beforeComplete'> = {},
): Promise<Exported> {
  const object = findCopy(await readExportObjects(database), request.object)
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
    await writeState(
      path,
      {
        export: exported.object,
        organization: request.organizationId,
        columns: object.columns.map(({ name }) => name),
        cursor: exported.cursor,
        file,
        modified: (await modified(file)) ?? '',
      },
      onWarning,
    )
    return exported
  } catch (error) {
    if (!(error instanceof CursorGoneError)) throw error
    throw new CursorGoneError(
      `${error.message} Here that is: remove the state file ${path}, and load into an empty table.`,
      { cause: error },
    )
  } finally {
    await lock.release()
  }
}

/** The path behind symbolic links, whether there is such a file or not. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const parent = await realpath(dirname(resolve(path))).catch(() => dirname(resolve(path)))
    return join(parent, basename(path))
  }
}

async function checkOut(out: string, file: string, path: string): Promise<void> {
  const isFile = await stat(file).then(
    (found) => found.isFile(),
    () => true,
  )
  if (out === '-' || !isFile) {
    throw new UsageError('--state needs --out FILE: of a pipe nobody knows whether all was stored.')
  }
  if (file === path) throw new UsageError('--state and --out name the same file.')
}

interface Lock {
  /** @throws Error where another process took it meanwhile, since this one was stopped for long */
  check(): Promise<void>
  release(): Promise<void>
}

/**
 * Takes the lock of a state file. A file system that cannot hold one is refused: two exports at once could lose changes.
 * @throws UsageError
 */
export async function lockState(path: string, calls: typeof fs = fs): Promise<Lock> {
  // Waiting would not help there.
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw new UsageError(`The state file ${path} cannot be written (${codeOf(error)}).`)
  })
  const release = await lockfile
    .lock(path, {
      realpath: false,
      fs: calls,
      stale: STALE_MS,
      // Longer than until one is stale that a killed process left.
      retries: { retries: (1.5 * STALE_MS) / WAIT_MS, minTimeout: WAIT_MS, maxTimeout: WAIT_MS },
      // By its own look, which may come late; `check` looks when it matters.
      onCompromised: () => {},
    })
    .catch((error: unknown) => {
      const isHeld = codeOf(error) === 'ELOCKED'
      const why = isHeld
        ? 'is in use by another export'
        : `cannot be locked (${codeOf(error)}): name one on another file system`
      throw new UsageError(`The state file ${path} ${why}.`, { cause: error })
    })
  const identity = async () => {
    const found = await stat(`${path}.lock`, { bigint: true }).catch(() => null)
    return found === null ? null : `${found.ino} ${found.birthtimeNs}`
  }
  const own = await identity()
  const isOwn = async () => own !== null && (await identity()) === own
  return {
    async check() {
      if (!(await isOwn()))
        throw new Error(`Another export took over the state file ${path}: repeat this one.`)
    },
    async release() {
      if (await isOwn()) await release().catch(() => {})
    },
  }
}

/** @returns null where there is none yet */
async function readState(path: string): Promise<State | null> {
  try {
    if (!(await stat(path)).isFile()) throw new SyntaxError()
    return STATE.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new UsageError(
      `The file ${path} is no state of an export: name another one, or remove it to begin with all rows.`,
      { cause: error },
    )
  }
}

async function checkState(
  { export: of, organization, columns, ...last }: State,
  path: string,
  object: CopyObject,
  { organizationId, out }: ExportRequest,
): Promise<void> {
  const describe = (name: string, only: string | null) =>
    only === null ? name : `${name} of the organization ${JSON.stringify(only)}`
  const [before, now] = [describe(of, organization), describe(fullName(object), organizationId)]
  if (before !== now) {
    throw new UsageError(`The state file ${path} is of ${before}, not of ${now}: name another one.`)
  }
  if (columns.join() !== object.columns.map(({ name }) => name).join()) {
    throw new UsageError(
      `The columns of ${of} are others than in the export before: remove the state file ${path}, and load everything into an empty table that has them.`,
    )
  }
  // One that a killed export left there is another, of which the state does not know: it is written again.
  if (last.file === out && last.modified === (await modified(out))) {
    throw new UsageError(
      `The file ${out} of the export before is still there: load it and remove it, or name another one.`,
    )
  }
}

/** When a file was last changed; null where there is none. */
async function modified(file: string): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(() => null)
  return found === null ? null : `${found.mtimeNs}`
}

async function writeState(path: string, state: State, onWarning?: OnWarning): Promise<void> {
  const target = await openTarget(path, onWarning)
  try {
    await writeAll(target.out, `${JSON.stringify(state)}\n`)
    await target.complete()
  } catch (error) {
    throw await target.abandon(error)
  }
}
