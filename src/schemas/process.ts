import * as z from 'zod'
import type { Columns, Value } from './columns.ts'

export const ProcessSettingSchema = z
  .object({
    name: z.string(),
    value: z
      .string()
      .nullable()
      .describe('As written; `set` for a secret; null if it is not set and has no default.'),
    origin: z
      .enum(['environment', '.env', 'file', 'default', 'stored'])
      .describe(
        '`file`: the file named in NAME_FILE. `stored`: set with `schedule`, for all workers.',
      ),
    isHidden: z
      .boolean()
      .describe(
        'Whether `.env` has a value that does not apply, because the environment has an empty variable.',
      ),
  })
  .meta({ id: 'ProcessSetting' })

export const ProcessSchema = z
  .object({
    workerId: z.string().describe('host:pid:random.'),
    kind: z
      .enum(['worker', 'run', 'serve'])
      .describe('`run`: a process that executes one run. `serve` makes no calls.'),
    version: z.string().nullable().describe('Its version of collab-sync.'),
    startedAt: z.date(),
    heartbeatAt: z.date().describe('When it last reported that it is alive.'),
    callsInFlight: z.number().describe('Its calls to the service in progress.'),
    callsLimit: z.number().describe('Its current limit of calls in progress.'),
    latencyMs: z.number().nullable().describe('Mean duration of recent calls.'),
    problem: z.string().nullable().describe('Why it cannot accept jobs or call the service.'),
    problemSince: z.date().nullable(),
    waiting: z.string().nullable().describe('What it waits for, as a sentence.'),
    waitingSince: z.date().nullable(),
    settings: z.array(ProcessSettingSchema).describe('The settings with which it started.'),
  })
  .meta({ id: 'Process', description: 'A live process of worker, run or serve.' })

export const ProcessesSchema = z.object({ items: z.array(ProcessSchema) }).meta({ id: 'Processes' })

export type Process = z.output<typeof ProcessSchema>

/** A value of a setting, and the processes that have it. */
export interface SharedSetting extends z.output<typeof ProcessSettingSchema> {
  readonly workerIds: readonly string[]
  /** Whether other processes have another value. */
  readonly differs: boolean
}

/**
 * The settings of all processes, one row for each value and origin, in the order of the first process that has the setting.
 * Settings that no process has set, and that have no default, are left out.
 */
export function sharedSettingsOf(processes: readonly Process[]): SharedSetting[] {
  const rows = new Map<string, Map<string, SharedSetting>>()
  for (const { workerId, settings } of processes)
    for (const setting of settings) {
      const values = rows.get(setting.name) ?? new Map<string, SharedSetting>()
      const key = JSON.stringify(setting)
      const workerIds = [...(values.get(key)?.workerIds ?? []), workerId]
      rows.set(setting.name, values.set(key, { ...setting, workerIds, differs: false }))
    }
  return [...rows.values()].flatMap((values) => {
    const all = [...values.values()]
    const differs = new Set(all.map(({ value }) => value)).size > 1
    if (all.every(({ value, isHidden }) => value === null && !isHidden)) return []
    return all.map((setting) => ({ ...setting, differs }))
  })
}

/** Versions of the processes, if there are several. */
export function mixedVersions(processes: readonly Process[]): string[] {
  const versions = new Set(processes.map(({ version }) => version ?? 'unknown'))
  return versions.size > 1 ? [...versions].toSorted() : []
}

export const PROCESS_COLUMNS: Columns<Process> = [
  ['process', ({ workerId }) => workerId, 'id'],
  ['kind', ({ kind }) => kind],
  ['version', ({ version }) => version],
  ['started', ({ startedAt }) => startedAt, 'nowrap'],
  [
    'calls in flight',
    ({ kind, callsInFlight, callsLimit }) =>
      kind === 'serve' ? null : `${callsInFlight} of ${callsLimit}`,
    'nowrap',
  ],
  ['state', stateOf, 'wrapped'],
]

function stateOf({ kind, problem, waiting }: Process): Value {
  if (problem !== null) return { tone: 'bad', text: problem }
  return waiting ?? (kind === 'serve' ? 'serving' : 'working')
}

const ORIGINS = {
  environment: 'environment',
  '.env': '.env',
  file: 'file in NAME_FILE',
  default: 'default',
  stored: 'stored by a user',
}

export const SETTING_COLUMNS: Columns<SharedSetting> = [
  ['setting', ({ name }) => ({ code: name }), 'nowrap'],
  ['value', ({ value, differs }) => (differs ? { tone: 'warn', text: value ?? 'not set' } : value)],
  [
    'origin',
    ({ origin, isHidden }) =>
      isHidden
        ? `${ORIGINS[origin]}; .env has a value that an empty variable hides`
        : ORIGINS[origin],
  ],
  [
    'processes that differ',
    ({ differs, workerIds }) => (differs ? { list: workerIds } : null),
    'id',
  ],
]
