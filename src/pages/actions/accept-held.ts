import * as z from 'zod'
import { count, counted } from '../../format.ts'
import * as pages from '../../database/statements/pages.ts'
import { UsageError } from '../../errors.ts'
import { listingName } from '../held/listing-name.ts'
import { pathWithNotice } from '../notices.ts'
import type { Action } from './action.ts'

/** Applies the removals of one held listing. */
export const acceptHeld: Action<{ held: number; run: string }> = {
  name: 'accept',
  fields: z.object({ held: z.coerce.number().int().positive(), run: z.uuid() }),
  async ask({ database }, { held: heldId, run }) {
    const held = await pages.held.first(database, { heldId })
    if (held === undefined) {
      throw new UsageError(
        'This listing is not held any more: somebody accepted it, or a later run settled it.',
      )
    }
    if (held.runId !== run) {
      throw new UsageError('A later run has seen another answer since: look at the listing again.')
    }
    return {
      title: 'Accept the removal?',
      sentences: [
        `The listing of ${listingName(held)}:`,
        `${counted(held.usersMissing, 'user')} of ${count(held.usersBefore)} leave it, as the service answered. Their rows stay, with the time at which they left; a later answer that holds them again brings them back.`,
      ],
      words: `Remove ${counted(held.usersMissing, 'user')}`,
      isDanger: true,
      back: '/held',
    }
  },
  async perform({ collabSync }, { held, run }) {
    const { removed } = await collabSync.acceptHeld(held, { runId: run })
    return pathWithNotice('/held', 'held-accepted', [removed])
  },
}
