import { expect, test } from 'vitest'
import { openLoaded, settled } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'
import { bytes, openFaultServer } from '../service/fault-server.ts'
import { openSelfSignedServer } from '../service/self-signed.ts'

const untrusted = await openSelfSignedServer()
const STOPPED = { status: 'failed', stopped_for: 'unreachable' }

test('an address where nothing listens ends the run after the tries of the first calls, with what to do', async () => {
  const live = await openLoaded('none')
  const closed = await openFaultServer()
  await closed.close()
  const run = await live.run({ settings: { COLLAB_API_URL: closed.url, SYNC_RETRIES: '1' } })
  expect(run).toMatchObject({ ...STOPPED, calls: 0, scopes_failed: 0 })
  expect(run['problem']).toMatch(
    /^The service cannot be reached \(.*ECONNREFUSED.*\): nothing listens there: are host and port in COLLAB_API_URL right\? /,
  )
})

test('a certificate that is not trusted ends the run at once, with what to do', async () => {
  const live = await openLoaded('none')
  const run = await live.run({ settings: { COLLAB_API_URL: untrusted.url } })
  expect(run).toMatchObject({ ...STOPPED, calls: 0, scopes_failed: 0 })
  expect(run['problem']).toMatch(
    /^The service cannot be reached \(self-signed certificate\): its certificate is not trusted: NODE_EXTRA_CA_CERTS/,
  )
})

test.each([
  ['that knows no such path', 501, '', 'Not Implemented (HTTP 501)'],
  ['with a web page', 200, '<!doctype html>', 'a web page (HTTP 200 web_page)'],
])(
  'the address of another server, %s, is named as what to check',
  async (_, status, body, cause) => {
    const live = await openLoaded('none')
    const server = await openFaultServer()
    server.usually = bytes(status, body)
    const { problem } = await live.run({
      settings: { COLLAB_API_URL: server.url, SYNC_RETRIES: '0' },
    })
    expect(problem).toContain(`: ${cause}`)
    expect(problem).toMatch(
      / No response seems to be from the service: check COLLAB_API_URL with `collab-sync doctor`\.$/,
    )
  },
)

test('a worker that does not trust the certificate leaves the run to the others, and ends it when there is none', async () => {
  const live = await openLoaded('postgres')
  const { pool } = live.database
  await pool.query(
    `insert into sync.workers (worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit)
    values ('another', now(), now() + interval '1 hour', 0, 8)`,
  )
  const worker = await live.openWorker({ COLLAB_API_URL: untrusted.url })
  const { sync } = worker.app
  const runId = await worker.startRun()
  await until('what it took is given back', async () => {
    const { rows } = await pool.query(
      `select from sync.run_items where kind = 'sync-batch' and (worker_id is not null or attempts > 0)`,
    )
    const { itemsInProgress, problems } = sync
    return problems.service !== null && itemsInProgress.size === 0 && rows.length === 0
  })
  expect(sync.problems.service).toContain('its certificate is not trusted')
  const other = await live.openWorker()
  const run = await settled(live.database, runId)
  expect(run).toMatchObject({ status: 'succeeded', scopes_failed: 0 })
  await Promise.all([worker.stop(), other.stop()])

  await pool.query('delete from sync.workers')
  const last = await live.openWorker({ COLLAB_API_URL: untrusted.url })
  expect(await settled(live.database, await last.startRun())).toMatchObject({ status: 'failed' })
})
