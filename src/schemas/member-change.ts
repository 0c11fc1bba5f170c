import * as z from 'zod'
import { OPERATION_NAMES, OPERATIONS } from '../base/operations.ts'

export const MemberChangeSchema = z.object({
  object: z.enum(OPERATION_NAMES.map((operation) => OPERATIONS[operation].record)),
  member: z.string(),
  change: z.enum(['new', 'absent', 'type']),
  types: z.array(z.string().nullable()).readonly(),
})

/** A field of the service's records that is new, absent from the last 1,000 changed records, or has a new type. */
export type MemberChange = z.output<typeof MemberChangeSchema>

/** A sentence without its full stop. */
export function describeMemberChange({ object, member, change, types }: MemberChange): string {
  const name = JSON.stringify(member)
  const type = types.join(', ')
  switch (change) {
    case 'new':
      return `${object}s have a new field ${name} (${type})`
    case 'absent':
      return `the last 1,000 changed ${object}s lack the field ${name} (${type})`
    case 'type':
      return `the field ${name} of ${object}s has a new type (${type})`
  }
}
