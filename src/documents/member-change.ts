import * as z from 'zod'

export const MemberChangeSchema = z.object({
  object: z.enum(['comment', 'user']),
  member: z.string(),
  change: z.enum(['new', 'absent', 'type']),
  types: z.array(z.string().nullable()).readonly(),
})

/** A member of the service's records that is new, absent from the last 1,000 changed ones, or of a type that it never had. */
export type MemberChange = z.output<typeof MemberChangeSchema>

/** What changed, as a sentence without its full stop. */
export function describeMemberChange({ object, member, change, types }: MemberChange): string {
  const name = JSON.stringify(member)
  const type = types.join(', ')
  switch (change) {
    case 'new':
      return `${object}s have a new member ${name} (${type})`
    case 'absent':
      return `the last 1,000 changed ${object}s lack the member ${name} (${type})`
    case 'type':
      return `the member ${name} of ${object}s has a type that it never had (${type})`
  }
}
