import type * as z from 'zod'
import { addHinted } from '../features/catalog/change.ts'
import { checked } from '../schemas/check.ts'
import { NewHintSchema } from '../schemas/hint.ts'
import type { Hinted } from '../schemas/hint.ts'
import { hint } from '../features/refresh/hint.ts'
import type { Parts } from './parts.ts'
import { isHandedOver, NOT_DELIVERED } from './runs.ts'

/**
 * Stores a hint and enqueues its run.
 * @param onFailure receives the reason if the queue does not accept it, in place of the log: a worker enqueues it later
 * @throws UsageError for an invalid scope, or one that is not in the catalog
 */
export async function giveHint(
  parts: Pick<Parts, 'database' | 'queue' | 'log' | 'by'>,
  request: z.input<typeof NewHintSchema>,
  onFailure = (reason: string): void => parts.log.warn({ reason }, NOT_DELIVERED),
): Promise<Hinted> {
  const { scope, add } = checked(NewHintSchema, request)
  if (add) await addHinted(parts.database, scope, parts.by)
  const { hinted, items } = await hint(parts, scope)
  if (hinted.runId !== null && items.length > 0) await isHandedOver(parts.queue, items, onFailure)
  return hinted
}
