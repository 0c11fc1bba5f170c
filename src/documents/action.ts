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
    action: z.string().describe('What was done, such as `run_requested`.'),
    runId: RunIdSchema.nullable().describe('The run it was done to.'),
    target: z.string().nullable().describe('What it was done to, in words.'),
    reason: z.string().nullable(),
  })
  .meta({ id: 'Action', description: 'What a user or program did.' })

/** What a user or program did: who, when, to what and why. */
export type Action = z.output<typeof ActionSchema>

/** The name that a program gives itself, marked so that it never reads like that of a token or a user. */
export const RequestedBySchema = text
  .max(100, 'must not be longer than 100 characters')
  .transform((name) => `says: ${name}`)

/** The same of a job of the queue. */
export const JobRequestedBySchema = RequestedBySchema.default('a program')
