import { Fragment } from 'preact'
import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import {
  beneathColumns,
  CONTENTS,
  eventOf,
  factsOfThing,
  reasonsOf,
  stateOf,
  WRITTEN_COLUMNS,
} from '../../../schemas/thing-columns.ts'
import { KIND_NAMES, ownId, parentOf, ThingRequestSchema } from '../../../schemas/thing.ts'
import type { Thing, ThingAction, Words } from '../../../schemas/thing.ts'
import { ANNOTATIONS_TOO } from '../actions/actions.ts'
import { ProblemError } from '../../problem.ts'
import {
  ActionButton,
  Badge,
  Card,
  ForOperators,
  HiddenFields,
  Submit,
  Time,
} from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import { READ, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { Pager, Table } from '../tables.tsx'
import type { PagerProps } from '../tables.tsx'
import { Facts, Shown } from '../values.tsx'
import { idFields, ThingLink, thingPath } from './thing-link.tsx'

const { limit: _, ...shape } = ThingRequestSchema.shape
const commentId = z.coerce.number('must be a whole number').optional()
const Query = z.object({ ...shape, commentId })

/** `/thing`: the stored data of an organization or of an object in it, its reason and its history. */
export function thingRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/thing', READ, async (request, reply) => {
    const query = readFields(Query, request.query)
    const thing = await collabSync.getThing(query)
    if (thing === null) throw new ProblemError(404, 'Nothing is stored under these IDs.')
    const { kind, ids, name, life, record } = thing
    const { lifeCursor, beneathCursor } = query
    const pager = { path: '/thing', query: { ...idFields(ids), lifeCursor, beneathCursor } }
    return sendPage(
      reply,
      {
        title: `${KIND_NAMES[kind]} ${name ?? ownId(kind, ids)}`,
        part: '/organizations',
        beside: <State thing={thing} />,
      },
      <>
        <nav aria-label="Path">
          <a href="/organizations">Catalog</a>
          {thing.above.map((each) => (
            <Fragment key={thingPath(each.ids)}>
              {' / '}
              <ThingLink ids={each.ids}>
                {each.name ??
                  each.ids.annotationId ??
                  each.ids.documentId ??
                  each.ids.organizationId}
              </ThingLink>
            </Fragment>
          ))}
        </nav>
        <Stored thing={thing} />
        {thing.kind === 'user' && (
          <Card title="Last comments">
            <Table
              caption="Last comments"
              isTitled
              empty="There are none."
              rows={thing.lastComments}
              columns={WRITTEN_COLUMNS}
            />
          </Card>
        )}
        {kind !== 'comment' && <Holds thing={thing} pager={pager} />}
        <Card title="History" id="life">
          {life.items.length === 0 && <p class="soft">No event is stored.</p>}
          <Timeline of={thing} />
          <Pager {...pager} cursorName="lifeCursor" anchor="life" nextCursor={life.nextCursor} />
        </Card>
        {record !== null && (
          <section class="card">
            <details>
              <summary>Record as stored</summary>
              <pre>{JSON.stringify(record, null, 2)}</pre>
            </details>
          </section>
        )}
      </>,
    )
  })
}

function State({ thing: { why, checked, actions, removal } }: { thing: Thing }) {
  const disputed = removal && (removal.decidedAt ? 'removal_refused' : 'removal_held')
  const states = [why.state, actions.includes('retry') && 'failing', disputed] as const
  return (
    <>
      {states.map((state) => state && <Shown key={state} of={stateOf(state)} />)}
      {checked.isStale && <Badge tone="warn">stale</Badge>}
    </>
  )
}

const BUTTONS: Readonly<Record<ThingAction, string>> = {
  sync: 'Sync now',
  retry: 'Retry what fails',
  hint: 'Report a change',
  add: 'Add to the catalog',
  remove: 'Remove from the catalog',
}

function Stored({ thing }: { thing: Thing }) {
  const { kind, ids } = thing
  const [reason, ...others] = reasonsOf(thing)
  // Comments are fetched with their annotation, users with their organization.
  const fetched = kind === 'comment' || kind === 'user' ? (parentOf(ids) ?? ids) : ids
  return (
    <Card title="Why it is here or gone">
      <p class="lead">
        <Shown of={reason} />
      </p>
      {others.map((each, place) => (
        <p key={place} class="notice">
          <Shown of={each} />
        </p>
      ))}
      <Facts of={[...factsOfThing(thing), ['ID', { code: ownId(kind, ids) }]]} />
      <div class="row">
        {thing.actions.map((action) => (
          <ActionButton
            key={action}
            action={action === 'retry' ? 'sync' : action}
            fields={{ ...idFields(fetched), failing: action === 'retry' ? 'true' : undefined }}
            words={BUTTONS[action]}
          />
        ))}
      </div>
    </Card>
  )
}

/** The kinds of entries that the page of an organization or a document can add to the catalog. */
const ADDED: Readonly<Partial<Record<Thing['kind'], Readonly<Record<string, string>>>>> = {
  organization: { documentId: 'document', organizationUserGroupId: 'user group' },
  document: { annotationId: 'annotation' },
}

/** The contents of an object, and forms that add to them. */
function Holds({ thing, pager }: { thing: Thing; pager: Pick<PagerProps, 'path' | 'query'> }) {
  const { kind, ids, beneath } = thing
  const title = CONTENTS[kind]
  const added = Object.entries(ADDED[kind] ?? {})
  return (
    <Card title={title} id="beneath">
      {thing.kind === 'document' && thing.why.state === 'here' && thing.facts.annotations === 0 && (
        <p class="notice warn">{ANNOTATIONS_TOO}</p>
      )}
      <Table
        caption={added.length > 0 ? `${title}, failing ones first` : title}
        isTitled={added.length === 0}
        empty="There are none."
        rows={beneath.items}
        columns={beneathColumns(kind)}
      />
      <Pager
        {...pager}
        cursorName="beneathCursor"
        anchor="beneath"
        nextCursor={beneath.nextCursor}
      />
      <ForOperators>
        {added.map(([name, words]) => (
          <form key={name} class="fields" method="get" action="/actions/add">
            <HiddenFields of={idFields(ids)} />
            <div>
              <label for={name}>ID of a new {words}</label>
              <input id={name} name={name} required />
            </div>
            <label class="check">
              <input type="checkbox" name="sync" checked /> and sync it now
            </label>
            <Submit words={`Add the ${words}`} />
          </form>
        ))}
      </ForOperators>
    </Card>
  )
}

function Timeline({ of }: { of: Thing }) {
  return (
    <ol class="timeline">
      {of.life.items.map((event, position) => (
        <li key={position}>
          <Time at={event.at} />
          <p>
            <Shown of={eventOf(event, of)} /> {event.place && <ThingLink ids={event.place} />}
          </p>
          {event.diff && <blockquote class="words">{event.diff.map(Marked)}</blockquote>}
        </li>
      ))}
    </ol>
  )
}

/** Marks the words that a version added or removed, also for screen readers. */
function Marked({ change, text }: Words) {
  if (change === 'same') return text
  const Mark = change === 'added' ? 'ins' : 'del'
  return (
    <Mark>
      <span class="unseen">{` [${change}: `}</span>
      {text}
      <span class="unseen">] </span>
    </Mark>
  )
}
