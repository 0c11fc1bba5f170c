import * as z from 'zod'
import { counted } from '../../format.ts'
import { pathWithNotice } from '../notices.ts'
import type { PageContext } from '../page-context.ts'
import type { Action } from './action.ts'

/** As many as an id of the catalog has bytes at most. */
const ID_CHARACTERS_MAX = 2000

/** Asks for a run of one organization, or of everything in the catalog. */
export const sync: Action<{ organization?: string | undefined }> = {
  name: 'sync',
  fields: z.object({ organization: z.string().min(1).max(ID_CHARACTERS_MAX).optional() }),
  async ask({ collabSync }, { organization }) {
    if (organization !== undefined) {
      return {
        title: 'Sync one organization now?',
        sentences: [
          `Organization: ${organization}`,
          'A run asks the service for all its users and comments, beside whatever else is under way, and writes what changed.',
        ],
        words: 'Sync it now',
        back: '/organizations',
      }
    }
    const { scopes } = await collabSync.getFreshness()
    return {
      title: 'Sync everything now?',
      sentences: [
        `A run asks the service for all ${counted(scopes, 'scope')} of the catalog, as a nightly run does, and writes what changed.`,
      ],
      words: 'Sync everything now',
      back: '/runs',
    }
  },
  async perform({ collabSync }, { organization }, key) {
    const scope = organization === undefined ? {} : { organizationIds: [organization] }
    return pathOf(await collabSync.startRun({ scope, idempotencyKey: key }))
  },
}

/** The page of a run that was asked for, saying whether it is a new one and whether a worker knows of it. */
export function pathOf(run: Awaited<ReturnType<PageContext['collabSync']['startRun']>>): string {
  const notice = !run.isNew ? 'run-known' : run.isDelivered ? 'run-started' : 'run-stored'
  return pathWithNotice(`/runs/${run.runId}`, notice)
}
