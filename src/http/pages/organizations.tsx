import type { FastifyInstance } from 'fastify'
import type { OrganizationFreshness } from '../../schemas/freshness.ts'
import type { Column, Value } from '../../schemas/columns.ts'
import { ActionButton } from './elements.tsx'
import { sendPage } from './layout.tsx'
import { CursorQuery, READ, readFields } from './page-context.ts'
import type { PageContext } from './page-context.ts'
import { Pager, Table } from './tables.tsx'
import type { Content } from './values.tsx'

/** `/organizations`: their freshness and failures, with a button that syncs one. */
export function organizationRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/organizations', READ, async (request, reply) => {
    const { cursor } = readFields(CursorQuery, request.query)
    const { items, nextCursor } = await collabSync.listOrganizations({ cursor })
    return sendPage(
      reply,
      { title: 'Catalog', part: '/organizations' },
      <section class="card">
        <Table
          caption="Organizations, by ID"
          empty="The catalog is empty. Fill it with: collab-sync catalog import FILE."
          rows={items}
          columns={COLUMNS}
        />
        <Pager path="/organizations" query={{ cursor }} nextCursor={nextCursor} />
      </section>,
    )
  })
}

const COLUMNS: readonly Column<OrganizationFreshness, Content>[] = [
  [
    'name',
    ({ organizationId, name }) => ({
      ids: { organizationId },
      text: name?.trim() || organizationId,
    }),
    'id',
  ],
  ['ID', ({ organizationId }) => organizationId, 'id'],
  ['state', stateOf],
  ['action', SyncButton],
  ['oldest check', ({ oldestCheck: ago }) => (ago ? { ago } : 'never')],
  ['newest check', ({ newestCheck: ago }) => (ago ? { ago } : 'never')],
  ['scopes', ({ scopes }) => scopes, 'number'],
  ['annotations', ({ annotations }) => annotations, 'number'],
  ['comments', ({ comments }) => comments, 'number'],
  ['failing', ({ failing }) => failing, 'number'],
  ['stale', ({ stale }) => stale, 'number'],
]

function SyncButton({ active, organizationId }: OrganizationFreshness) {
  if (!active) return null
  const fields = { organizationId }
  return <ActionButton action="sync" fields={fields} words="Sync now" about={organizationId} />
}

function stateOf(of: OrganizationFreshness): Value {
  if (!of.active) return { tone: 'idle', text: 'not in the catalog' }
  if (of.failing > 0) return { tone: 'bad', text: 'failing' }
  if (of.held > 0) return { tone: 'warn', text: 'held' }
  if (of.neverChecked > 0) return { tone: 'info', text: 'not all checked' }
  if (of.stale > 0) return { tone: 'warn', text: 'stale' }
  if (of.refused > 0) return { tone: 'info', text: 'removal refused' }
  return { tone: 'good', text: 'fresh' }
}
