import * as z from 'zod'
import { RunIdSchema, text } from './check.ts'

export const ActionSchema = z
  .object({
    actionId: z.number(),
    at: z.date(),
    by: z
      .string()
      .describe(
        'The name of a token, `HTTP_TOKEN`, `this machine`, the user of a command or program, or `says: NAME` for an unverified name that a program gave itself.',
      ),
    action: z.string().describe('The action, such as `run_requested`.'),
    runId: RunIdSchema.nullable().describe('The run that it affected.'),
    target: z.string().nullable().describe('A description of its object.'),
    reason: z.string().nullable(),
  })
  .meta({ id: 'Action', description: 'An action of a user or program.' })

export type Action = z.output<typeof ActionSchema>

/** The name that a program gives itself, with a mark that distinguishes it from names of tokens and users. */
export const RequestedBySchema = text
  .max(100, 'must not be longer than 100 characters')
  .transform((name) => `says: ${name}`)

export const JobRequestedBySchema = RequestedBySchema.default('a program')
