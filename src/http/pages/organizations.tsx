import type { FastifyInstance } from 'fastify'
import type { OrganizationFreshness } from '../../documents/freshness.ts'
import { count } from '../../documents/format.ts'
import { Ago, ActionButton, Badge } from './elements.tsx'
import { sendPage } from './layout.tsx'
import { CursorQuery, readFields } from './page-context.ts'
import type { PageContext } from './page-context.ts'
import { Pager, Table } from './tables.tsx'
import type { Column } from './tables.tsx'
import { NamedThing } from './things/thing-link.tsx'

/** `/organizations`: their freshness and failures, with a button that syncs one. */
export function organizationRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/organizations', { config: { right: 'read' } }, async (request, reply) => {
    const { cursor } = readFields(CursorQuery, request.query)
    const { items, nextCursor } = await collabSync.listOrganizations({ cursor })
    return sendPage(
      reply,
      { title: 'Catalog', part: '/organizations' },
      <section class="card">
        <Table
          caption="Organizations, by ID"
          empty="The catalog is empty."
          rows={items}
          columns={COLUMNS}
        />
        <Pager path="/organizations" query={{ cursor }} nextCursor={nextCursor} />
      </section>,
    )
  })
}

const COLUMNS: readonly Column<OrganizationFreshness>[] = [
  [
    'Organization',
    ({ organizationId, name }) => (
      <NamedThing kind="organization" ids={{ organizationId }} name={name} />
    ),
    'id',
  ],
  ['State', State],
  ['Action', SyncButton],
  ['Oldest check', ({ oldestCheck }) => (oldestCheck ? <Ago at={oldestCheck} /> : 'never')],
  ['Newest check', ({ newestCheck }) => (newestCheck ? <Ago at={newestCheck} /> : 'never')],
  ['Scopes', ({ scopes }) => count(scopes), 'number'],
  ['Annotations', ({ annotations }) => count(annotations), 'number'],
  ['Comments', ({ comments }) => count(comments), 'number'],
  ['Failing', ({ failing }) => count(failing), 'number'],
  ['Stale', ({ stale }) => count(stale), 'number'],
]

function SyncButton({ active, organizationId }: OrganizationFreshness) {
  if (!active) return null
  const fields = { organizationId }
  return <ActionButton action="sync" fields={fields} words="Sync now" about={organizationId} />
}

function State(of: OrganizationFreshness) {
  if (!of.active) return <Badge tone="idle">not in the catalog</Badge>
  if (of.failing > 0) return <Badge tone="bad">failing</Badge>
  if (of.held > 0) return <Badge tone="warn">held</Badge>
  if (of.neverChecked > 0) return <Badge tone="info">not all checked</Badge>
  if (of.stale > 0) return <Badge tone="warn">stale</Badge>
  if (of.refused > 0) return <Badge tone="info">removal refused</Badge>
  return <Badge tone="good">fresh</Badge>
}
