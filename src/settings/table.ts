import type * as z from 'zod'
import { SERVICE_ROWS, STORE_ROWS } from './connection-rows.ts'
import { OPERATOR_ROWS } from './operator-rows.ts'
import type { Setting } from './setting.ts'
import { SYNC_ROWS } from './sync-rows.ts'

/** Every setting of collab-sync, by its member in `Settings`. `.env.example` is made from this table. */
export const SETTINGS = {
  ...SERVICE_ROWS,
  ...STORE_ROWS,
  ...SYNC_ROWS,
  ...OPERATOR_ROWS,
}

type Table = typeof SETTINGS
type Member = keyof Table
type Defaulted = { [M in Member]: Table[M] extends { default: string } ? M : never }[Member]

/** What the settings say, in plain values. A member without a default is missing where it is unset. */
export type Settings = { [M in Defaulted]: z.output<Table[M]['parse']> } & {
  [M in Exclude<Member, Defaulted>]?: z.output<Table[M]['parse']>
}

/** The table's rows with their members, in its order. */
export const SETTING_LIST: readonly { member: Member; setting: Setting }[] = (
  Object.keys(SETTINGS) as Member[]
).map((member) => ({ member, setting: SETTINGS[member] }))
