import { personOf } from './columns.ts'
import type { Column, Columns, Facts, Tone, Value } from './columns.ts'
import { counted, inShell, scopePath, shorten, shortId } from './format.ts'
import { factsOf, KIND_NAMES, ownId, parentOf } from './thing.ts'
import type { Beneath, Found, LifeEntry, Thing, ThingKind, Written } from './thing.ts'

type ThingState = Beneath['state'] | Thing['why']['state']

const STATE_TONES: Readonly<Partial<Record<ThingState, Tone>>> = {
  here: 'good',
  good: 'good',
  failing: 'bad',
  stale: 'warn',
  removal_held: 'warn',
  removal_refused: 'info',
}

/** The state of a thing in its colour. */
export function stateOf(state: ThingState) {
  return { tone: STATE_TONES[state] ?? 'idle', text: state.replaceAll('_', ' ') }
}

/** A sentence, what it is about, and the run that noticed it. */
function noticed(sentence: string, runId: string | null, ...of: Value[]): Value {
  const run = runId === null ? [] : [{ runId, text: `(run ${shortId(runId)})` }]
  return { words: [sentence, ...of, ...run] }
}

/** Why a thing is here or gone, then what a reader should know about its state. */
export function reasonsOf({ kind, why, removal, isErasing }: Thing): [Value, ...Value[]] {
  return [
    noticed(why.sentence, why.runId),
    ...(removal === null || kind === 'user' ? [] : [noticed(removal.sentence, removal.runId)]),
    ...(isErasing ? ['An erasure is in progress: some texts may not be rewritten yet.'] : []),
  ]
}

/** The facts of a thing, with links to people, and its last and next check. */
export function factsOfThing(thing: Thing): Facts {
  const { checked, ids } = thing
  const person = (userId: string) => personOf(ids, { userId, name: null })
  const facts = factsOf(thing).map(([label, value, name]): Facts[number] => {
    if (typeof value === 'object' && !(value instanceof Date))
      return [label, { list: value.map(person) }]
    if (typeof value !== 'string') return [label, value]
    if (name === 'authorUserId') return [label, person(value)]
    return [label, name === 'text' ? { quote: value } : value]
  })
  return [
    ...facts,
    ['Erasure', erasureOf(thing)],
    ['Checked', noticed(checked.sentence, checked.runId)],
    ['Failing', checked.failing && noticed(checked.failing, checked.failingRunId)],
    ['Next check', checked.next],
  ]
}

/** The command that erases a user, and what it rewrites; null for other things and after an erasure. */
function erasureOf(thing: Thing): Value {
  if (thing.kind !== 'user' || thing.why.state === 'erased') return null
  const { organizationId, userId = '' } = thing.ids
  const { comments, deletedComments } = thing.facts
  const command = `collab-sync erase user --organization ${inShell(organizationId)} --reason TEXT -- ${inShell(userId)}`
  const effect = `empties or rewrites this user, ${counted(comments, 'live comment')} and ${deletedComments} deleted, with earlier versions, and replaces the ID and the addresses in memberships and all other texts. It cannot be undone. Without --organization, it does so in all organizations.`
  return { words: [{ code: command }, effect] }
}

/** What happened to a thing, with its user and the run that noticed it. */
export function eventOf({ sentence, runId, user }: LifeEntry, { ids }: Thing): Value {
  return noticed(sentence, runId, ...(user === null ? [] : ['User:', personOf(ids, user)]))
}

/** The titles of the contents of a thing. */
export const CONTENTS: Readonly<Record<ThingKind, string>> = {
  organization: 'User groups and documents',
  userGroup: 'Users',
  document: 'Annotations and users',
  annotation: 'Comments',
  comment: '',
  user: 'User groups and documents',
}

/** The number of comments of a user, of an annotation, or of what contains annotations. */
const COMMENT_COUNT: Column<Beneath> = ['comments', ({ comments }) => comments, 'number']
const CHECKED: Column<Beneath> = ['last good check', ({ checkedAt }) => checkedAt, 'nowrap']
const SINCE: Column<Beneath> = ['member since', ({ since }) => since, 'nowrap']

const OWN_COLUMNS: Readonly<Record<ThingKind, Columns<Beneath>>> = {
  organization: [COMMENT_COUNT, CHECKED],
  userGroup: [SINCE],
  document: [COMMENT_COUNT, CHECKED, SINCE],
  annotation: [['last change', ({ changedAt }) => changedAt, 'nowrap']],
  comment: [],
  user: [COMMENT_COUNT, SINCE],
}

/** The columns of the contents of a thing. */
export function beneathColumns(kind: ThingKind): Columns<Beneath> {
  return [...NAMED_COLUMNS, ['state', ({ state }) => stateOf(state)], ...OWN_COLUMNS[kind]]
}

/** The columns of the last comments of a user. */
export const WRITTEN_COLUMNS: Columns<Written> = [
  [
    'comment',
    ({ ids, text }) => ({ ids, text: shorten(text ?? '', 60) || `comment ${ids.commentId}` }),
    'id',
  ],
  ['in', ({ ids }) => ({ ids: { ...ids, commentId: null } }), 'id'],
  ['written', ({ writtenAt }) => writtenAt, 'nowrap'],
]

type Named = Pick<Found, 'kind' | 'ids' | 'name'> & { readonly runId?: string | null }

function idOf({ kind, ids, runId = null }: Named): string | null {
  return kind === 'run' || ids === null ? runId : ownId(kind, ids)
}

const NAMED_COLUMNS: Columns<Named> = [
  [
    'name',
    (of) =>
      of.ids
        ? { ids: of.ids, text: of.name?.trim() || (idOf(of) ?? '') }
        : of.runId
          ? { runId: of.runId }
          : null,
    'id',
    50,
  ],
  ['kind', ({ kind }) => (kind === 'run' ? 'Run' : KIND_NAMES[kind]), 'nowrap'],
  ['ID', idOf, 'id', 50],
]

export const FOUND_COLUMNS: Columns<Found> = [
  ...NAMED_COLUMNS,
  ['in', ({ ids }) => ids && scopePath(parentOf(ids) ?? {}), 'id'],
  ['match', ({ isExact }) => (isExact ? 'exact' : 'part'), 'nowrap'],
]
