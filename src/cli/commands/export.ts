import { UsageError } from '../../base/errors.ts'
import { exportObject } from '../../features/export/export-object.ts'
import type { Exported } from '../../features/export/export-object.ts'
import type { ExportFormat } from '../../features/export/text.ts'
import { exportByState } from '../../features/export/state.ts'
import { count, counted, duration } from '../../documents/format.ts'
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

/** `collab-sync export TABLE`: a table or view as CSV, NDJSON or Parquet. */
export async function exportTable(table: string, options: ExportOptions): Promise<number> {
  const { format, out, json, after, state } = options
  if (json && out === '-') {
    throw new UsageError('--json needs --out FILE: standard output holds the export itself.')
  }
  if (format === 'parquet' && out === '-' && process.stdout.isTTY) {
    throw new UsageError('Parquet is not for a terminal: use --out FILE, or a pipe.')
  }
  if (after !== undefined && state !== undefined) {
    throw new UsageError('--state keeps the cursor itself: leave out --after.')
  }
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
    const progress = progressNotes((rows: number) => describeProgress(rows, startedAtMs))
    const events = { onRows: json ? undefined : progress, onWarning: note }
    const exported = await (state === undefined
      ? exportObject(database, request, events)
      : exportByState(database, request, state, events))
    if (json) printJson({ ...exported, format, out })
    else if (exported.isWhole) {
      const took = duration(performance.now() - startedAtMs)
      const which = exported.after === null ? '' : ' that changed'
      const [first, ...more] = nextSteps(exported, options)
      note(
        `${counted(exported.rows, 'row')} of ${exported.object}${which} as of ${exported.takenAt.toISOString()}, in ${took}. ${first}`,
      )
      for (const next of more) note(next)
    }
  })
}

/** How to get what changes from now on. */
function nextSteps({ nextSince, cursor }: Exported, { after, state }: ExportOptions): string[] {
  if (state !== undefined) return [`For what changes from now on: again with --state ${state}`]
  if (after !== undefined) return [`For what changes from now on: --after ${cursor}`]
  return [
    `For what changes from now on: --since ${nextSince.toISOString()}`,
    `With deletions and erasures too: collab-sync changes --after ${cursor}`,
  ]
}

/** How many rows there are is not known: counting takes as long as exporting. */
function describeProgress(rows: number, startedAtMs: number): string {
  const perSecond = Math.round((rows / (performance.now() - startedAtMs)) * 1000)
  return `${counted(rows, 'row')}, ${count(perSecond)} a second`
}
