import { RECORD_OBJECTS } from '../base/columns.ts'
import { ACTION_COLUMNS, CAUSE_COLUMNS, HELD_COLUMNS, REJECTED_COLUMNS, runs } from './columns.ts'
import type { Columns, Facts, Value } from './columns.ts'
import {
  changeWord,
  count,
  counted,
  describeHeld,
  describeKept,
  describeRejected,
  describeRemoval,
  listingName,
  nothingToRetry,
  shortId,
} from './format.ts'
import type { RunChangesPage } from './run-change.ts'
import type { RunDetails } from './run.ts'

/** What a user can do next: by a command, on a page, by a button of the page with the run as its field, or several of these. */
export interface Step {
  readonly words: string
  /** Without `collab-sync`. */
  readonly command?: string
  readonly path?: string
  readonly action?: string
}

/** A list with its columns. It passes both to a function that shows them. */
export type List = <Shown>(
  show: <Row>(columns: Columns<Row>, rows: readonly Row[]) => Shown,
) => Shown

/** A part of what is shown of a run. Commands print it under a heading, pages as a card. */
export interface Section {
  readonly title: string
  readonly list?: List | undefined
  readonly lines?: readonly Value[]
  readonly steps?: readonly Step[]
}

/** The failures, held removals, rejected records and actions of a run, as far as there are any. */
export function sectionsOf(run: RunDetails): Section[] {
  const { runId, failuresByCause, held, refused, retriedBy } = run
  const id = shortId(runId)
  const path = `/held?run=${runId}`
  const { failing } = run.failuresByState
  const isOver = run.finishedAt !== null
  const otherRefused = refused.listings - refused.first.length
  const actions = run.actions.filter(({ action }) => action !== 'run_requested')
  const sections: (Section | false)[] = [
    failuresByCause.length > 0 && {
      title: 'Failures by cause; everything else was written',
      list: listOf(CAUSE_COLUMNS, failuresByCause),
      lines: [
        ...(isOver && failing === 0 ? [nothingToRetry(run)] : []),
        ...(retriedBy.length > 0 ? [{ words: ['Retried by', runs(retriedBy)] }] : []),
      ],
      steps: [
        {
          words: 'All failed scopes',
          command: `status ${id} --failures`,
          path: `/runs/${runId}/failures`,
        },
        ...(isOver && failing > 0
          ? [
              {
                words: `Retry the ${counted(failing, 'scope')} that still ${failing === 1 ? 'fails' : 'fail'}`,
                command: `run --failed-of ${id}`,
                action: 'retry',
              },
            ]
          : []),
      ],
    },
    held.listings > 0 && {
      title: `Held removals: ${describeHeld(held)}`,
      list: listOf(HELD_COLUMNS, held.first),
      steps: [
        { words: 'Review the removals', path },
        { words: 'Remove these users', command: `accept ${id}` },
        { words: 'Keep them', command: `refuse ${id} --reason TEXT` },
      ],
    },
    refused.listings > 0 && {
      title: `Refused removals: ${describeKept(refused)}`,
      lines: [
        ...refused.first.map((one) => ({
          words: [{ ids: one, text: `${listingName(one)}:` }, describeRemoval(one)],
        })),
        ...(otherRefused > 0 ? [`and ${counted(otherRefused, 'other listing')}`] : []),
      ],
    },
    run.rejected > 0 && {
      title: `Rejected: ${describeRejected(run.recordsRejected, run.fieldsRejected)}`,
      list: listOf(REJECTED_COLUMNS, run.rejectedRecords),
      steps: [
        { words: 'All open ones', command: `rejected --run ${id}`, path: `${path}#rejected` },
        { words: 'Set them aside', command: 'rejected set-aside ID --reason TEXT' },
      ],
    },
    actions.length > 0 && { title: 'Actions', list: listOf(ACTION_COLUMNS, actions) },
  ]
  return sections.filter((section) => section !== false)
}

/** How many comments, users and members a run changed, by kind, with links to the lists. */
export function factsOfChanges(runId: string, { counts }: RunChangesPage): Facts {
  return RECORD_OBJECTS.map((object) => {
    const list = counts
      .filter((each) => each.object === object)
      .map((each) => ({
        path: `/runs/${runId}/changes?object=${object}&change=${each.change}`,
        text: `${count(each.count)} ${changeWord(each)}`,
      }))
    return [`${object.replaceAll('_', ' ')}s`, list.length === 0 ? null : { list }]
  })
}

function listOf<Row>(columns: Columns<Row>, rows: readonly Row[]): List | undefined {
  return rows.length === 0 ? undefined : (show) => show(columns, rows)
}
