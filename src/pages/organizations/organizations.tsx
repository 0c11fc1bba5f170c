import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import type { OrganizationFreshness } from '../../documents/freshness.ts'
import { count } from '../../format.ts'
import { AskButton } from '../actions/ask-button.tsx'
import { Ago, Badge, Heads, noticeOf, Pager, Scroller } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import { optionalText, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'

const Query = z.object({ search: optionalText, cursor: optionalText })

/** `/organizations`: how fresh each one is, what fails in it, and a way to sync it now. */
export function organizationRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/organizations', { config: { right: 'read' } }, async (request, reply) => {
    const { search, cursor } = readFields(Query, request.query)
    const { items, nextCursor } = await collabSync.listOrganizations({
      ...(search && { search }),
      ...(cursor && { cursor }),
    })
    return sendPage(
      reply,
      { title: 'Organizations', part: '/organizations', notice: noticeOf(request.query) },
      <section class="card">
        <Search search={search} />
        {items.length === 0 ? (
          <p class="soft">
            {search
              ? 'No organization has that in its id.'
              : 'The catalog has no organization yet.'}
          </p>
        ) : (
          <OrganizationTable organizations={items} />
        )}
        <Pager path="/organizations" query={{ search, cursor }} nextCursor={nextCursor} />
      </section>,
    )
  })
}

function Search({ search }: { search: string | undefined }) {
  return (
    <form class="fields" method="get" action="/organizations" role="search">
      <div>
        <label for="search">Part of an organization’s id</label>
        <input id="search" name="search" type="search" value={search} />
      </div>
      <button class="button quiet" type="submit">
        Search
      </button>
    </form>
  )
}

function OrganizationTable({ organizations }: { organizations: readonly OrganizationFreshness[] }) {
  return (
    <Scroller label="Organizations">
      <table>
        <caption>Organizations in the order of their ids</caption>
        <Heads
          of={[
            ['Organization'],
            ['State'],
            ['Action'],
            ['Oldest check'],
            ['Newest check'],
            ['Scopes', 'number'],
            ['Annotations', 'number'],
            ['Comments', 'number'],
            ['Failing', 'number'],
          ]}
        />
        <tbody>
          {organizations.map((one) => (
            <OrganizationRow key={one.organizationId} organization={one} />
          ))}
        </tbody>
      </table>
    </Scroller>
  )
}

function OrganizationRow({ organization }: { organization: OrganizationFreshness }) {
  const { organizationId, oldestCheck, newestCheck } = organization
  return (
    <tr>
      <th scope="row" class="id">
        {organizationId}
      </th>
      <td>
        <State of={organization} />
      </td>
      <td>
        {organization.active && (
          <AskButton
            action="sync"
            fields={{ organization: organizationId }}
            words="Sync now"
            about={organizationId}
          />
        )}
      </td>
      <td>{oldestCheck === null ? 'never' : <Ago at={oldestCheck} />}</td>
      <td>{newestCheck === null ? 'never' : <Ago at={newestCheck} />}</td>
      <td class="number">{count(organization.scopes)}</td>
      <td class="number">{count(organization.annotations)}</td>
      <td class="number">{count(organization.comments)}</td>
      <td class="number">{count(organization.failing)}</td>
    </tr>
  )
}

function State({ of }: { of: OrganizationFreshness }) {
  if (!of.active) return <Badge tone="idle">not in the catalog</Badge>
  if (of.failing > 0) return <Badge tone="bad">failing</Badge>
  if (of.held > 0) return <Badge tone="warn">held</Badge>
  if (of.neverChecked > 0) return <Badge tone="info">not all checked</Badge>
  return <Badge tone="good">all well</Badge>
}
