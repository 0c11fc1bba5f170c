import { listActions } from '../../client/listings.ts'
import { ACTION_COLUMNS } from '../../schemas/columns.ts'
import { note, print, printJson } from '../output.ts'
import { table } from '../table.ts'
import { withTables } from '../with-store.ts'

/** `collab-sync history`: actions of users and programs, newest first. */
export async function history(options: {
  readonly limit: number
  readonly cursor?: string
  readonly json?: boolean
}): Promise<number> {
  const { json, ...request } = options
  return withTables({ name: 'history' }, async (store) => {
    const page = await listActions(store, request)
    if (json) return printJson(page)
    print(page.items.length === 0 ? 'There are no actions.' : table(ACTION_COLUMNS, page.items))
    if (page.nextCursor !== null) note(`Next page: --cursor ${page.nextCursor}`)
  })
}
