import * as rejected from '../../core/database/statements/rejected.ts'
import { resolveRejected } from '../../client/waiting.ts'
import { REJECTED_COLUMNS } from '../../schemas/columns.ts'
import { RECORD_CHARACTERS } from '../../schemas/waiting.ts'
import type { SetAsideDone } from '../../schemas/waiting.ts'
import { UsageError } from '../../base/errors.ts'
import { counted } from '../../schemas/format.ts'
import { print, printJson } from '../output.ts'
import { findRun } from '../requested-scope.ts'
import { table } from '../table.ts'
import { withTables } from '../with-store.ts'
import { processUser } from '../../base/process-user.ts'

interface Options {
  run?: string
  json?: boolean
}

/** `collab-sync rejected list`: open records, or records that were set aside, newest first. */
export async function rejectedList(
  options: Options & { setAside?: boolean; limit: number },
): Promise<number> {
  const { setAside = false, limit, json } = options
  return withTables({ name: 'rejected' }, async ({ database }) => {
    const runId = options.run === undefined ? null : await findRun(database, options.run, '--run')
    const of = { runId, isSetAside: setAside, mostCharacters: RECORD_CHARACTERS }
    const records = await rejected.list.all(database, { ...of, before: null, limit })
    if (json) return printJson(records)
    if (records.length === 0)
      return print(`No rejected record is ${setAside ? 'set aside' : 'open'}.`)
    print(table(REJECTED_COLUMNS, records))
  })
}

/** `collab-sync rejected set-aside ID... --reason TEXT`, and without a reason `rejected restore ID...`. */
export async function rejectedResolve(
  ids: string[],
  { run, reason, json }: Options & { reason?: string },
): Promise<number> {
  if (ids.length > 0 === (run !== undefined))
    throw new UsageError('Give either IDs, as listed by `collab-sync rejected`, or --run RUN.')
  const wrong = ids.find((id) => !/^[1-9]\d{0,14}$/.test(id))
  if (wrong !== undefined)
    throw new UsageError(`ID must be a number, not ${JSON.stringify(wrong)}.`)
  return withTables({ name: 'rejected' }, async ({ database }) => {
    const choice =
      run === undefined
        ? { ids: ids.map(Number) }
        : { runId: await findRun(database, run, '--run') }
    const as = { by: processUser(), reason: reason ?? null }
    const changed = await resolveRejected(database, choice, as)
    if (json) printJson({ changed } satisfies SetAsideDone)
    else print(`${counted(changed, 'record')} ${as.reason === null ? 'reopened' : 'set aside'}.`)
  })
}
