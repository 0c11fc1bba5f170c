import { listingsOn } from '../../client/listings.ts'
import { readSettings } from '../../settings/settings.ts'
import { EXIT } from '../exit.ts'
import { note, print, printJson } from '../output.ts'
import { actionsTable } from '../run-details.ts'
import { quietLog, withTables } from '../with-store.ts'

/** `collab-sync history`: what users and programs did, the newest first. */
export async function history(options: {
  readonly limit: number
  readonly cursor?: string
  readonly json?: boolean
}): Promise<number> {
  const { json, ...request } = options
  const settings = readSettings(process.env, { need: ['database'] })
  const opening = { settings, log: quietLog(settings), name: 'history' }
  return withTables(opening, async ({ database }) => {
    const page = await listingsOn(database).listActions(request)
    if (json) printJson(page)
    else {
      print(page.items.length === 0 ? 'There are no actions.' : actionsTable(page.items))
      if (page.nextCursor !== null) note(`There is more: --cursor ${page.nextCursor}`)
    }
    return EXIT.done
  })
}
