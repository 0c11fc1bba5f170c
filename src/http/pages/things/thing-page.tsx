import type { FastifyInstance } from 'fastify'
import type { ComponentChildren } from 'preact'
import * as z from 'zod'
import { id } from '../../../documents/check.ts'
import { count } from '../../../documents/format.ts'
import { factsOf, KIND_NAMES, ownId, parentOf } from '../../../documents/thing.ts'
import type {
  Beneath,
  FactValue,
  Thing,
  ThingAction,
  ThingIds,
  ThingKind,
} from '../../../documents/thing.ts'
import { AskButton, Badge, Card, Facts, ForOperators, Time } from '../elements.tsx'
import type { Tone } from '../elements.tsx'
import { sendPage, sendUnknown } from '../layout.tsx'
import { optionalText, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { RunLinks } from '../runs/run-parts.tsx'
import { Pager, Table } from '../tables.tsx'
import type { Column } from '../tables.tsx'
import { idFields, ThingLink } from './thing-link.tsx'
import { Timeline } from './timeline.tsx'

const Query = z.object({
  organizationId: id,
  documentId: id.optional(),
  annotationId: id.optional(),
  commentId: z.coerce.number('must be a whole number').optional(),
  organizationUserGroupId: id.optional(),
  userId: id.optional(),
  lifeCursor: optionalText,
  beneathCursor: optionalText,
})

/** Where the two listings of the page begin. */
type Cursors = Pick<z.output<typeof Query>, 'lifeCursor' | 'beneathCursor'>

/** `/thing`: what is stored of an organization, or of something in it, why, and what happened to it. */
export function thingRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/thing', { config: { right: 'read' } }, async (request, reply) => {
    const query = readFields(Query, request.query)
    const thing = await collabSync.getThing(query)
    if (thing === null)
      return sendUnknown(reply, 'Nothing is stored under these IDs, and the catalog lacks them.')
    const { kind, ids, name } = thing
    return sendPage(
      reply,
      {
        title: `${KIND_NAMES[kind]} ${name ?? ownId(kind, ids)}`,
        part: '/organizations',
        beside: <State thing={thing} />,
      },
      <ThingContent thing={thing} cursors={query} />,
    )
  })
}

function ThingContent({ thing, cursors }: { thing: Thing; cursors: Cursors }) {
  const { kind, ids, life, beneath } = thing
  const pager = {
    path: '/thing',
    query: {
      ...idFields(ids),
      lifeCursor: cursors.lifeCursor,
      beneathCursor: cursors.beneathCursor,
    },
  }
  const holds = HOLDS[kind]
  return (
    <>
      <Path ids={ids} />
      {thing.isErasing && (
        <p class="notice warn">
          An erasure is in progress. This page can still show texts that the erasure has not
          rewritten yet.
        </p>
      )}
      <Stored thing={thing} />
      {holds !== null && (
        <Card title={holds.title} id="beneath">
          <Table
            label={holds.title}
            caption={holds.caption}
            empty="There are none."
            rows={beneath.items}
            columns={beneathColumns(kind, holds.time, beneath.items)}
          />
          <Pager
            {...pager}
            cursorName="beneathCursor"
            anchor="beneath"
            nextCursor={beneath.nextCursor}
          />
        </Card>
      )}
      <AddForms thing={thing} />
      <Card title="History" id="life">
        {life.items.length === 0 && <p class="soft">No events are stored.</p>}
        <Timeline entries={life.items} organizationId={ids.organizationId} />
        <Pager {...pager} cursorName="lifeCursor" anchor="life" nextCursor={life.nextCursor} />
      </Card>
      {thing.record != null && (
        <section class="card">
          <details>
            <summary>Record as stored</summary>
            <pre>{JSON.stringify(thing.record, null, 2)}</pre>
          </details>
        </section>
      )}
    </>
  )
}

const WHY = {
  here: ['good', 'stored'],
  gone: ['idle', 'gone'],
  not_in_catalog: ['idle', 'not in the catalog'],
  never_listed: ['idle', 'never listed'],
  erased: ['idle', 'erased'],
} as const satisfies Record<Thing['why']['state'], readonly [Tone, string]>

function State({ thing: { why, checked, facts } }: { thing: Thing }) {
  const [tone, words] = WHY[why.state]
  return (
    <>
      <Badge tone={tone}>{words}</Badge>
      {(checked.failingSince !== null || ('failing' in facts && facts.failing > 0)) && (
        <Badge tone="bad">failing</Badge>
      )}
      {checked.isStale && <Badge tone="warn">stale</Badge>}
    </>
  )
}

/** The things that hold this one, from the catalog down. */
function Path({ ids }: { ids: ThingIds }) {
  const parents: ThingIds[] = []
  for (let parent = parentOf(ids); parent !== null; parent = parentOf(parent)) parents.push(parent)
  return (
    <nav aria-label="Path">
      <ol class="path">
        <li>
          <a href="/organizations">Catalog</a>
        </li>
        {parents.toReversed().map((parent, depth) => (
          <li key={depth}>
            <ThingLink ids={parent}>
              {parent.annotationId ?? parent.documentId ?? parent.organizationId}
            </ThingLink>
          </li>
        ))}
      </ol>
    </nav>
  )
}

/** Why the thing is here or gone, when it was checked, its facts, and its actions. */
function Stored({ thing }: { thing: Thing }) {
  const { kind, ids, why, checked } = thing
  const facts = factsOf(thing).filter(([, , name]) => name !== 'text' && name !== 'name')
  // Comments are fetched with their annotation, users with their organization.
  const isSynced = kind !== 'comment' && kind !== 'user'
  const fields = idFields(isSynced ? ids : (parentOf(ids) ?? ids))
  return (
    <Card title="Why it is here or gone">
      <p class="lead">
        {why.sentence} <SeeRun runId={why.runId} />
      </p>
      {kind === 'comment' && thing.facts.text !== null && (
        <blockquote class="words">{thing.facts.text}</blockquote>
      )}
      <p>
        {checked.sentence} <SeeRun runId={checked.runId} />
        <br />
        Next check: {checked.next}
      </p>
      <Facts
        of={[
          ['ID', <code key="id">{ownId(kind, ids)}</code>],
          ...facts.map(
            ([label, value, name]) =>
              [label, <Fact key={name} {...{ name, value, ids }} />] as const,
          ),
        ]}
      />
      <div class="row">
        {thing.actions.map((name) => {
          const { action, words, more } = BUTTONS[name]
          return <AskButton key={name} {...{ action, words }} fields={{ ...fields, ...more }} />
        })}
      </div>
    </Card>
  )
}

function SeeRun({ runId }: { runId: string | null }) {
  return runId === null ? null : (
    <span class="soft">
      (<RunLinks runIds={[runId]} />)
    </span>
  )
}

const BUTTONS: Readonly<
  Record<ThingAction, { action: string; words: string; more?: Record<string, string> }>
> = {
  sync: { action: 'sync', words: 'Sync now' },
  retry: { action: 'sync', words: 'Retry what fails', more: { failing: 'true' } },
  hint: { action: 'hint', words: 'Report a change' },
  add: { action: 'add', words: 'Add to the catalog' },
  remove: { action: 'remove', words: 'Remove from the catalog' },
}

function Fact({ name, value, ids }: { name: string; value: FactValue; ids: ThingIds }) {
  if (value instanceof Date) return <Time at={value} />
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return count(value)
  if (name !== 'authors' && name !== 'authorUserId') return <bdi>{value}</bdi>
  const { organizationId } = ids
  const userIds = [value].flat()
  if (userIds.length === 0) return '–'
  return userIds.map((userId, position) => (
    <span key={userId}>
      {position > 0 && ', '}
      <ThingLink ids={{ organizationId, userId }}>{userId}</ThingLink>
    </span>
  ))
}

interface Holds {
  readonly title: string
  readonly caption: string
  /** The head of the column of times. */
  readonly time: string
}

/** What is beneath a thing, by its kind. */
const HOLDS: Readonly<Record<ThingKind, Holds | null>> = {
  organization: {
    title: 'Documents and user groups',
    caption: 'Documents and user groups, failing ones first',
    time: 'Last good check',
  },
  userGroup: { title: 'Users', caption: 'Users of the group', time: 'Member since' },
  document: {
    title: 'Annotations and users',
    caption: 'Annotations, failing ones first, then users',
    time: 'Last good check, or member since',
  },
  annotation: { title: 'Comments', caption: 'Comments of the thread', time: 'Last change' },
  comment: null,
  user: {
    title: 'Documents and user groups of the user',
    caption: 'Documents and user groups that the user is a member of',
    time: 'Member since',
  },
}

const BENEATH_TONES: Readonly<Record<Beneath['state'], Tone>> = {
  good: 'good',
  failing: 'bad',
  stale: 'warn',
  never_checked: 'info',
  not_in_catalog: 'idle',
  deleted: 'idle',
  removal_held: 'warn',
  removal_refused: 'idle',
}

function beneathColumns(
  kind: ThingKind,
  timeHead: string,
  rows: readonly Beneath[],
): Column<Beneath>[] {
  const counts = rows.some(({ comments }) => comments !== null)
  return [
    [kind === 'annotation' ? 'Comment' : 'Name', BeneathName, 'id'],
    [
      'State',
      ({ state }) => <Badge tone={BENEATH_TONES[state]}>{state.replaceAll('_', ' ')}</Badge>,
    ],
    ...(counts
      ? ([
          ['Comments', ({ comments }) => comments !== null && count(comments), 'number'] as const,
        ] satisfies Column<Beneath>[])
      : []),
    [timeHead, ({ at }) => (at === null ? '–' : <Time at={at} />), 'nowrap'],
  ]
}

function BeneathName({ kind, ids, name }: Beneath): ComponentChildren {
  const own = ownId(kind, ids)
  return (
    <>
      <ThingLink ids={ids}>
        <bdi>{name?.trim() || own}</bdi>
      </ThingLink>
      <div class="soft">
        {KIND_NAMES[kind]} {name !== null && own}
      </div>
    </>
  )
}

/** Forms that add what the catalog lacks beneath an organization or a document. */
function AddForms({ thing: { kind, ids } }: { thing: Thing }) {
  const names =
    kind === 'organization'
      ? ([
          ['documentId', 'document'],
          ['organizationUserGroupId', 'user group'],
        ] as const)
      : kind === 'document'
        ? ([['annotationId', 'annotation']] as const)
        : []
  if (names.length === 0) return null
  return (
    <ForOperators>
      <Card title={`Add a ${names.map(([, words]) => words).join(' or a ')}`}>
        {names.map(([name, words]) => (
          <form key={name} class="fields" method="get" action="/actions/add">
            {Object.entries(idFields(ids)).map(
              ([field, value]) =>
                value !== undefined && (
                  <input key={field} type="hidden" name={field} value={value} />
                ),
            )}
            <div>
              <label for={name}>{`ID of the ${words}`}</label>
              <input id={name} name={name} required />
            </div>
            <label class="check">
              <input type="checkbox" name="sync" checked /> and sync it now
            </label>
            <button class="button quiet" type="submit">
              {`Add the ${words}`}
            </button>
          </form>
        ))}
      </Card>
    </ForOperators>
  )
}
