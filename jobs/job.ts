import * as z from 'zod'
import { UsageError } from '../src/errors.ts'
import type { App } from '../src/app.ts'
import type { Delivered } from '../src/queue/worker.ts'

/** What the queue delivers: a file of this folder each. */
export interface Job {
  /** Stored in the queue: never rename. */
  readonly name: string
  perform(app: App, job: Delivered): Promise<unknown>
}

const ItemData = z.strictObject({ runId: z.uuid(), itemId: z.int() })
const RunData = z.strictObject({ runId: z.uuid() })

/** The ids in an item job's data. @throws UsageError where they are not there */
export function itemIds(data: unknown): z.infer<typeof ItemData> {
  return parse(ItemData, data)
}

/** The id in a run job's data. @throws UsageError where it is not there */
export function runId(data: unknown): string {
  return parse(RunData, data).runId
}

function parse<T>(schema: z.ZodType<T>, data: unknown): T {
  const parsed = schema.safeParse(data)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new UsageError(`Job data: ${issue?.path.join('.') || 'data'} is wrong: ${issue?.message}.`)
}
