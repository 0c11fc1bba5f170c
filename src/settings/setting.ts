import type * as z from 'zod'

/** Settings that are read together: those of a group that a command does not need are not even checked. */
export type SettingGroup =
  'service' | 'database' | 'queue' | 'http' | 'sync' | 'catalog' | 'telemetry' | 'notify'

/** One setting of the environment. */
export interface Setting {
  readonly name: string
  readonly group: SettingGroup
  readonly parse: z.ZodType<unknown, string>
  /** As a person would write it; without one an unset setting has no value. */
  readonly default?: string
  /** Must be set where its group is needed. */
  readonly required?: true
  readonly meaning: string
  /** Where it is left out, the default is one. */
  readonly example?: string
  /** Its value, or a password in it, never appears in a message. */
  readonly secret?: true
}

/** Rows of the table of settings, all of one group. */
export function inGroup<const Rows extends Record<string, Omit<Setting, 'group'>>>(
  group: SettingGroup,
  rows: Rows,
): { readonly [Member in keyof Rows]: Rows[Member] & Pick<Setting, 'group'> } {
  const entries = Object.entries(rows).map(([member, row]) => [member, { ...row, group }])
  return Object.fromEntries(entries)
}
