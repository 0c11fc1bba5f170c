// Does everything that the API offers, by the types that openapi-typescript makes of its document (openapi.d.ts, beside it
// where the test puts them), and prints what it saw as one JSON object. URL, token and an organization are its arguments.
import createClient from 'openapi-fetch'

const [url = '', token = '', organizationId = ''] = process.argv.slice(2)

/** @type {import('openapi-fetch').Client<import('./openapi.d.ts').paths>} */
const client = createClient({ baseUrl: url, headers: { authorization: `Bearer ${token}` } })

const runId = await startTwice()
const events = await follow(runId)
const run = given(await client.GET('/v1/runs/{runId}', { params: { path: { runId } } }))
const heldUsers = await acceptHeld(runId)
console.log(
  JSON.stringify({
    events: [...new Set(events)],
    status: run.status,
    failed: run.scopesFailed,
    causes: run.failuresByCause.map(({ operation, httpStatus }) => ({ operation, httpStatus })),
    runs: await everyRun(),
    failures: await countFailures(runId),
    rejected: await rejected(runId),
    heldUsers,
    retried: await retryAndCancel(runId),
    ...(await freshness()),
    schedules: await schedules(),
    faults: await faultsOfWrongScope(),
  }),
)

async function startTwice() {
  const request = {
    params: { header: { 'idempotency-key': 'generated-client' } },
    body: { scope: {} },
  }
  const first = given(await client.POST('/v1/runs', request))
  const second = given(await client.POST('/v1/runs', request))
  if (!first.isNew || second.isNew || first.runId !== second.runId)
    throw new Error('One key made two runs.')
  return first.runId
}

/** @param {string} followed */
async function follow(followed) {
  const { data, response } = await client.GET('/v1/runs/{runId}/events', {
    params: { path: { runId: followed } },
    parseAs: 'text',
  })
  if (data === undefined) throw new Error(`The events cannot be read: ${response.status}.`)
  return [...data.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
}

async function everyRun() {
  const seen = []
  /** @type {string | null} */
  let cursor = ''
  while (cursor !== null) {
    /** @type {{ limit: number, cursor?: string }} */
    const query = cursor === '' ? { limit: 1 } : { limit: 1, cursor }
    const page = given(await client.GET('/v1/runs', { params: { query } }))
    seen.push(...page.items.map(({ trigger }) => trigger))
    cursor = page.nextCursor
  }
  return seen
}

/** @param {string} of */
async function countFailures(of) {
  const query = { runId: of, organizationId, limit: 500 }
  return given(await client.GET('/v1/failures', { params: { query } })).items.length
}

/** @param {string} of */
async function rejected(of) {
  const query = { runId: of }
  const { items } = given(await client.GET('/v1/rejected-records', { params: { query } }))
  return items.length
}

/** @param {string} of */
async function acceptHeld(of) {
  const { items } = given(await client.GET('/v1/held', { params: { query: { runId: of } } }))
  const listing = items.find(({ kind }) => kind === 'organization')
  if (listing === undefined) throw new Error('Nothing is held.')
  const path = { heldId: listing.heldId }
  const accepted = given(await client.POST('/v1/held/{heldId}/accept', { params: { path } }))
  return { missing: listing.usersMissing, removed: accepted.removed }
}

/** @param {string} of */
async function retryAndCancel(of) {
  const path = { runId: of }
  const retry = given(await client.POST('/v1/runs/{runId}/retry', { params: { path } }))
  await follow(retry.runId)
  const over = { runId: retry.runId }
  const { error } = await client.POST('/v1/runs/{runId}/cancel', { params: { path: over } })
  return { isNew: retry.isNew, cancelled: error?.status }
}

async function freshness() {
  const all = given(await client.GET('/v1/freshness'))
  const path = { organizationId }
  const { facts } = given(
    await client.GET('/v1/organizations/{organizationId}', { params: { path } }),
  )
  const query = { q: organizationId }
  const { items } = given(await client.GET('/v1/search', { params: { query } }))
  const found = items.filter((each) => each.isExact).map((each) => each.kind)
  return { neverChecked: all.neverChecked, isActive: facts.active, found }
}

async function schedules() {
  const before = given(await client.GET('/v1/schedule'))
  const body = { cron: '30 1 * * *', timeZone: 'Europe/Berlin' }
  const set = given(await client.PUT('/v1/schedule', { body }))
  const removed = given(await client.DELETE('/v1/schedule'))
  return [before.cron, set.cron, removed.cron]
}

async function faultsOfWrongScope() {
  // @ts-expect-error -- the types know what each member is
  const { error } = await client.POST('/v1/runs', { body: { scope: { documentId: 5 } } })
  return error?.errors?.map((fault) => `${fault.in} ${fault.member}`)
}

/**
 * @template T
 * @param {{ data?: T, error?: { detail: string }, response: Response }} answer
 * @returns {T}
 */
function given({ data, error, response }) {
  if (data === undefined) throw new Error(`${response.url}: ${response.status} ${error?.detail}`)
  return data
}
