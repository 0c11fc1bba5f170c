import { afterEach, beforeEach, expect, test } from 'vitest'
import { sendJson } from '../../src/demo/stand-in.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

let live: Live

beforeEach(async () => {
  live = await openLive('none', { settings: { SYNC_RETRIES: '0' } })
  await live.importCatalog()
})
afterEach(() => live.close())

test('a code never seen before is counted with one sample, over all runs, and known codes are not', async () => {
  const [first, second] = [...live.world.organizationIds()] as [string, string]
  live.standIn.setFaults([
    { kind: 'unknown-error-code', match: { operation: 'users', organizationId: first } },
    { kind: 'not-found', match: { operation: 'users', organizationId: second } },
  ])
  const run = await live.run()
  const { rows: failures } = await live.database.pool.query(
    `select http_status, error_status, count(*)::int as scopes, min(error_message) as message
    from sync.failures where run_id = $1 and organization_id = $2 group by 1, 2`,
    [run.run_id, first],
  )
  expect(failures).toHaveLength(1)
  const [{ http_status, error_status, scopes, message }] = failures
  expect(await observed()).toEqual([
    { operation: 'users', http_status, error_status, times: scopes, sample: message },
  ])
  await live.run()
  expect(await observed()).toMatchObject([{ times: 2 * scopes, sample: message }])
})

test('the sample holds no credential, even where the service sends one back', async () => {
  const { apiKey, authToken } = live.standIn
  live.standIn.setFaults([
    {
      kind: 'custom',
      match: { operation: 'comments' },
      respond: (_request, response) =>
        sendJson(
          response,
          418,
          JSON.stringify({ error: { status: 'TEAPOT', message: `${apiKey} and ${authToken}` } }),
        ),
    },
  ])
  await live.run()
  const [row] = await observed()
  expect(row).toMatchObject({ http_status: 418, error_status: 'TEAPOT', operation: 'comments' })
  expect(row.sample).toContain('[secret] and [secret]')
  expect(JSON.stringify(row)).not.toContain(apiKey)
})

async function observed() {
  const { rows } = await live.database.pool.query(
    'select operation, http_status, error_status, times, sample from sync.observed_errors',
  )
  return rows
}
