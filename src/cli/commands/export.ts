import { UsageError } from '../../base/errors.ts'
import { exportObject } from '../../features/export/export-object.ts'
import type { Exported } from '../../features/export/export-object.ts'
import type { ExportFormat } from '../../features/export/text.ts'
import { exportByState } from '../../features/export/state.ts'
import { count, counted, duration } from '../../schemas/format.ts'
import { note, printJson, progressNotes } from '../output.ts'
import { withTables } from '../with-store.ts'

interface ExportOptions {
  organization?: string
  since?: Date
  after?: string
  state?: string
  format: ExportFormat
  out: string
  formulas?: boolean
  bom: boolean
  json?: boolean
}

/** `collab-sync export TABLE`. */
export async function exportTable(table: string, options: ExportOptions): Promise<number> {
  const { format, out, json, after, state } = options
  if (json && out === '-')
    throw new UsageError('--json needs --out FILE: standard output contains the export.')
  if (format === 'parquet' && out === '-' && process.stdout.isTTY)
    throw new UsageError('Parquet cannot be shown in a terminal: use --out FILE or a pipe.')
  if (after !== undefined && state !== undefined)
    throw new UsageError(
      '--state cannot be combined with --after: the state file contains the cursor.',
    )
  return withTables({ name: 'export' }, async ({ database }) => {
    const request = {
      object: table,
      organizationId: options.organization ?? null,
      since: options.since ?? null,
      ...(after !== undefined && { after }),
      format,
      out,
      formulas: options.formulas ?? false,
      byteOrderMark: options.bom,
    }
    const startedAtMs = performance.now()
    const progress = progressNotes((rows: number) => {
      // The total is unknown: counting takes as long as exporting.
      const perSecond = Math.round((rows / (performance.now() - startedAtMs)) * 1000)
      return `${counted(rows, 'row')}, ${count(perSecond)} per second`
    })
    const events = { onRows: json ? undefined : progress, onWarning: note }
    const exported = await (state === undefined
      ? exportObject(database, request, events)
      : exportByState(database, request, state, events))
    if (json) printJson({ ...exported, format, out })
    else if (exported.isWhole) {
      const took = duration(performance.now() - startedAtMs)
      const which = exported.after === null ? 'row' : 'changed row'
      const [first, ...more] = nextSteps(exported, options)
      note(
        `${counted(exported.rows, which)} of ${exported.object} as of ${exported.takenAt.toISOString()}, in ${took}. ${first}`,
      )
      for (const next of more) note(next)
    }
  })
}

function nextSteps({ nextSince, cursor }: Exported, { after, state }: ExportOptions): string[] {
  if (state !== undefined) return [`Later changes: repeat with --state ${state}`]
  if (after !== undefined) return [`Later changes: --after ${cursor}`]
  return [
    `Later changes: --since ${nextSince.toISOString()}`,
    `Including deletions and erasures: collab-sync changes --after ${cursor}`,
  ]
}
