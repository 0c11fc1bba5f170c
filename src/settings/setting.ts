import type * as z from 'zod'
import type { ProcessSettingSchema } from '../schemas/process.ts'

/** Settings that commands need together. */
export type SettingGroup =
  | 'service'
  | 'database'
  | 'queue'
  | 'http'
  | 'catalog'
  | 'sync'
  | 'refresh'
  | 'reports'
  | 'privacy'
  | 'telemetry'
  | 'notify'

/** One setting of the environment. */
export interface Setting {
  readonly name: string
  readonly group: SettingGroup
  readonly parse: z.ZodType<unknown, string>
  /** As written in the environment. Without a default, an unset setting has no value. */
  readonly default?: string
  /** Must be set for commands that need its group. */
  readonly required?: true
  readonly meaning: string
  /** If it is missing, the default is the example. */
  readonly example?: string
  /** A shell command that makes a secret; messages show it instead of an example, which people would paste. */
  readonly command?: string
  /** Its value, or a password in it, never appears in a message. */
  readonly secret?: true
}

/** A setting as a process has it. */
export type ConfiguredSetting = z.output<typeof ProcessSettingSchema>

/** What is wrong with a setting. */
export interface SettingFault {
  /** Null for a line of `.env` that cannot be read. */
  readonly setting: Setting | null
  /** A sentence. */
  readonly problem: string
  /** An example, or the command that makes a value. */
  readonly fix?: string
}

/** Rows of the table of settings, all of one group. */
export function inGroup<const Rows extends Record<string, Omit<Setting, 'group'>>>(
  group: SettingGroup,
  rows: Rows,
): { readonly [Member in keyof Rows]: Rows[Member] & Pick<Setting, 'group'> } {
  const entries = Object.entries(rows).map(([member, row]) => [member, { ...row, group }])
  return Object.fromEntries(entries)
}
