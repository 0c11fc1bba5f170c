import { search } from '../../client/search.ts'
import { getThing } from '../../client/things.ts'
import type { Columns } from '../../schemas/columns.ts'
import {
  beneathColumns,
  CONTENTS,
  eventOf,
  factsOfThing,
  FOUND_COLUMNS,
  reasonsOf,
  stateOf,
  WRITTEN_COLUMNS,
} from '../../schemas/thing-columns.ts'
import { inShell, scopePath, shorten, shortId, time } from '../../schemas/format.ts'
import { KIND_NAMES, kindOf, ownId, parentOf } from '../../schemas/thing.ts'
import type { Found, LifeEntry, Thing, ThingIds, Words } from '../../schemas/thing.ts'
import { UsageError } from '../../base/errors.ts'
import { printable } from '../../base/printable.ts'
import {
  facts,
  harmless,
  heading,
  note,
  paint,
  painted,
  print,
  printJson,
  textOf,
} from '../output.ts'
import { table } from '../table.ts'
import { inWordsOfCommand } from '../requested-scope.ts'
import { withTables } from '../with-store.ts'

interface ShowOptions {
  readonly user?: boolean
  readonly group?: boolean
  readonly find?: string
  readonly seconds?: number
  readonly limit?: number
  readonly life?: string
  readonly beneath?: string
  readonly demo?: boolean
  readonly json?: boolean
}

/**
 * `collab-sync show ORGANIZATION [DOCUMENT [ANNOTATION [COMMENT]]]`, or with `--user` or `--group`: prints everything stored about a
 * thing. `--find TEXT` lists things.
 * @throws UsageError if nothing is stored about it
 */
export async function show(
  organizationId: string | undefined,
  documentId: string | undefined,
  annotationId: string | undefined,
  commentId: number | undefined,
  options: ShowOptions,
): Promise<number> {
  const { find, json, seconds } = options
  const given = { documentId, annotationId, commentId }
  const ids = find === undefined ? idsOf(organizationId, given, options) : null
  if (ids === null && organizationId !== undefined)
    throw new UsageError('--find cannot be combined with IDs.')
  if (ids !== null && seconds !== undefined) throw new UsageError('--seconds needs --find.')
  const command = { name: 'show', demo: options.demo }
  return withTables(command, async ({ database }, { settings }) => {
    const parts = { database, settings }
    if (ids === null) {
      const searched = search(parts, { q: find ?? '', seconds })
      const result = await searched.catch(inWordsOfCommand({ q: '--find', seconds: '--seconds' }))
      if (json) return printJson(result)
      print(result.items.length === 0 ? 'Nothing was found.' : table(COLUMNS, result.items))
      for (const sentence of result.notes) note(sentence)
      return
    }
    const { limit, life: lifeCursor, beneath: beneathCursor } = options
    const request = { ...ids, limit, lifeCursor, beneathCursor }
    const thing = await getThing(parts, request).catch(inWordsOfCommand(WORDS))
    if (thing === null) throw new UsageError(describeMissing(ids))
    if (json) printJson(thing)
    else print(describe(thing, limit))
  })
}

/** The arguments for the members of a request. */
const WORDS = {
  organizationId: 'ORGANIZATION',
  documentId: 'DOCUMENT',
  annotationId: 'ANNOTATION',
  commentId: 'COMMENT',
  organizationUserGroupId: 'ID',
  userId: 'ID',
  limit: '--limit',
  lifeCursor: '--life',
  beneathCursor: '--beneath',
}

function idsOf(
  organizationId: string | undefined,
  given: Omit<ThingIds, 'organizationId'>,
  { user, group }: ShowOptions,
): ThingIds {
  if (organizationId === undefined) throw new UsageError('Give ORGANIZATION, or --find TEXT.')
  if (!user && !group) return { organizationId, ...given }
  const { documentId: id, annotationId } = given
  if (id === undefined || annotationId !== undefined)
    throw new UsageError(`${user ? '--user' : '--group'} needs ORGANIZATION and one ID.`)
  return { organizationId, ...(user ? { userId: id } : { organizationUserGroupId: id }) }
}

function describeMissing(ids: ThingIds): string {
  const [kind, parent] = [kindOf(ids), parentOf(ids)]
  if (kind === null) throw new Error('The arguments name no thing.')
  const own = `${KIND_NAMES[kind].toLowerCase()} ${JSON.stringify(ownId(kind, ids))}`
  const where = parent === null ? '' : ` of ${scopePath(parent)}`
  return `Nothing is stored about ${own}${where}. Search for it with: collab-sync show --find TEXT`
}

/** The command that shows a thing, quoted for a POSIX shell. */
function commandFor(ids: ThingIds): string {
  const { organizationId, documentId, annotationId, organizationUserGroupId: group, userId } = ids
  const given = [organizationId, documentId, annotationId, ids.commentId, group, userId]
    .filter((id) => id !== undefined)
    .map(String)
  return [
    'collab-sync show',
    ...(userId === undefined ? [] : ['--user']),
    ...(group === undefined ? [] : ['--group']),
    ...(given.some((id) => id.startsWith('-')) ? ['--'] : []),
    ...given.map(inShell),
  ].join(' ')
}

const COLUMNS: Columns<Found> = [
  ...FOUND_COLUMNS,
  [
    'command',
    ({ ids, runId }) =>
      ids === null ? `collab-sync status ${shortId(runId ?? '')}` : commandFor(ids),
    undefined,
    Infinity,
  ],
]

/** Maximum characters of a name in a table, and of a fact. */
const NAME_MAX = 50
const TEXT_MAX = 2000

const cutFact = (text: string) => shorten(text, TEXT_MAX)

function describe(thing: Thing, limit: number | undefined): string {
  const { kind, ids, name, why, life, beneath } = thing
  const [reason, ...others] = reasonsOf(thing).map((each) => harmless(textOf(each)))
  const next = `${commandFor(ids)}${limit === undefined ? '' : ` --limit ${limit}`}`
  const more = (option: string, { nextCursor }: { nextCursor: string | null }) =>
    nextCursor === null ? [] : [`  Next page: ${next} --${option} ${nextCursor}`]
  const called = name === null || kind === 'comment' ? '' : ` (${shorten(name, NAME_MAX)})`
  return [
    `${KIND_NAMES[kind]} ${paint.bold(scopePath(ids))}${called}: ${painted(stateOf(why.state))}`,
    `  ${reason}`,
    ...others.map((sentence) => `  ${paint.yellow(sentence)}`),
    '',
    facts(
      factsOfThing(thing).map(
        ([label, value]) => [label, value && textOf(value, cutFact)] as const,
      ),
    ),
    ...(thing.kind === 'user' && thing.lastComments.length > 0
      ? [heading('Last comments'), table(WRITTEN_COLUMNS, thing.lastComments)]
      : []),
    heading('Events, newest first'),
    ...(life.items.length === 0
      ? ['  None.']
      : life.items.flatMap((event) => lifeLines(event, thing))),
    ...more('life', life),
    ...(beneath.items.length === 0
      ? []
      : [heading(CONTENTS[kind]), table(beneathColumns(kind), beneath.items)]),
    ...more('beneath', beneath),
  ].join('\n')
}

function lifeLines(event: LifeEntry, thing: Thing): string[] {
  const text = harmless(textOf(eventOf(event, thing), cutFact))
  const line = `  ${paint.dim(time(event.at))}  ${text}`
  return event.diff === null ? [line] : [line, `    ${event.diff.map(markedWords).join('')}`]
}

/** Words of a comment, marked as added or removed also without colours, and shortened in the middle. */
function markedWords({ change, text }: Words): string {
  const line = text.replace(/\s+/g, ' ')
  const words = printable(
    line.length > 300 ? `${line.slice(0, 140)} … ${line.slice(-140)}`.toWellFormed() : line,
  )
  if (change === 'same') return words
  return change === 'added' ? paint.green(`{+${words}+}`) : paint.red(`[-${words}-]`)
}
