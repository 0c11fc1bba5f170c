import { addColumn, listColumns, removeColumn } from '../../database/added-columns.ts'
import type { AddedColumn, ColumnRequest } from '../../documents/column.ts'
import { count, counted } from '../../format.ts'
import { readSettings } from '../../settings/settings.ts'
import type { Settings } from '../../settings/table.ts'
import type { Store } from '../../store.ts'
import { EXIT } from '../exit.ts'
import { note, print, printJson, table } from '../output.ts'
import { quietLog, withTables } from '../with-store.ts'

interface AddOptions extends Pick<ColumnRequest, 'member' | 'type'> {
  index?: boolean
  json?: boolean
}

/** `collab-sync column add TABLE NAME`: a member as a column of the views. */
export async function columnAdd(
  object: ColumnRequest['object'],
  name: string,
  { member, type, index = false, json }: AddOptions,
): Promise<number> {
  return onTables(async ({ databaseUrl }, { privacyRaw }) => {
    const request = { object, name, member, type, index }
    const added = await addColumn(databaseUrl, request, privacyRaw === 'keep')
    if (privacyRaw === 'drop')
      note(
        'PRIVACY_RAW=drop stores no member without a column of its own: of what is written by now the column is null.',
      )
    if (json) printJson(added)
    else
      print(
        `${object}.${name} is ${member} as ${type}: ${counted(added.values, 'record')} with a value, ${count(added.misfits)} of them null because it does not fit.`,
      )
  })
}

/** `collab-sync column list`: what was added, and how it fits. */
export async function columnList({ json }: { json?: boolean }): Promise<number> {
  return onTables(async ({ database }) => {
    const added = await listColumns(database)
    if (json) printJson({ columns: added })
    else if (added.length === 0) print('None. Add one with: collab-sync column add')
    else print(listed(added))
  })
}

/** `collab-sync column remove TABLE NAME`: takes one away from the views; what is stored stays. */
export async function columnRemove(
  object: ColumnRequest['object'],
  name: string,
  { json }: { json?: boolean },
): Promise<number> {
  return onTables(async ({ databaseUrl }) => {
    await removeColumn(databaseUrl, { object, name })
    if (json) printJson({ object, name, removed: true })
    else print(`${object}.${name} is gone from the views; what is stored stays.`)
  })
}

function listed(added: readonly AddedColumn[]): string {
  return table(
    [
      { head: 'column' },
      { head: 'member' },
      { head: 'type' },
      { head: 'index' },
      { head: 'values', align: 'right' },
      { head: 'do not fit', align: 'right' },
    ],
    added.map((each) => [
      `${each.object}.${each.name}`,
      each.member,
      each.type,
      each.index,
      count(each.values),
      count(each.misfits),
    ]),
  )
}

async function onTables(
  work: (store: Store, settings: Settings) => Promise<void>,
): Promise<number> {
  const settings = readSettings(process.env, { need: ['database'] })
  return withTables({ settings, log: quietLog(settings), name: 'column' }, async (store) => {
    await work(store, settings)
    return EXIT.done
  })
}
