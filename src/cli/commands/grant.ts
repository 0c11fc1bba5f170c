import { grantRole, revokeRole } from '../../database/grants.ts'
import { readSettings } from '../../settings/settings.ts'
import { EXIT } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { quietLog, withTables } from '../with-store.ts'

interface GrantOptions {
  organization?: string
  revoke?: boolean
  json?: boolean
}

/** `collab-sync grant ROLE`: lets a role read everything, or single organizations; or takes that back. */
export async function grant(role: string, options: GrantOptions): Promise<number> {
  const { organization = null, revoke = false, json } = options
  const settings = readSettings(process.env, { need: ['database'] })
  const opening = { settings, log: quietLog(settings), name: 'grant' }
  return withTables(opening, async ({ database }) => {
    const change = revoke ? revokeRole : grantRole
    const { organizationIds } = await change(database, role, organization)
    if (json) printJson({ role, organizationIds })
    else print(describe(role, organizationIds))
    return EXIT.done
  })
}

function describe(role: string, organizationIds: readonly string[] | null): string {
  if (organizationIds === null) return `Role ${role} may read everything in collab and reporting.`
  if (organizationIds.length === 0) return `Role ${role} may read nothing any more by our grants.`
  const ids = organizationIds.map((id) => JSON.stringify(id)).join(', ')
  return `Role ${role} may read, in collab and reporting, what belongs to: ${ids}.`
}
