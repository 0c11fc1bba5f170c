import * as z from 'zod'
import { RunIdSchema, text } from './check.ts'

export const ActionSchema = z
  .object({
    actionId: z.number(),
    at: z.date(),
    by: z
      .string()
      .describe(
        'The name of a token, `HTTP_TOKEN`, `this machine`, the user of a command or a program, or `says: NAME` where a program gave a name that nothing proves.',
      ),
    action: z.enum([
      'run_requested',
      'run_cancelled',
      'held_accepted',
      'held_refused',
      'import_accepted',
      'import_refused',
      'catalog_changed',
      'records_set_aside',
      'records_restored',
      'schedule_set',
      'schedule_removed',
      'token_added',
      'token_removed',
      'person_erased',
    ]),
    runId: RunIdSchema.nullable().describe('The run it was done to.'),
    target: z.string().nullable().describe('What it was done to, in words.'),
    reason: z.string().nullable(),
  })
  .meta({ id: 'Action', description: 'What a user or program did.' })

/** What a user or program did: who, when, to what and why. */
export type Action = z.output<typeof ActionSchema>

/** The name that a program gives itself. */
export const RequestedBySchema = text
  .max(100, 'must not be longer than 100 characters')
  .describe('Who requests it: listed as `says: NAME`, because nothing proves it.')

/** The name that the actions of a job are listed under. */
export function actorOfJob({ requestedBy }: { requestedBy?: string | undefined }): string {
  return requestedBy === undefined ? 'a program' : asSaid(requestedBy)
}

/** A name that a program gives itself, marked as such: it never reads like that of a token or a user. */
export function asSaid(name: string): string {
  return `says: ${name}`
}
