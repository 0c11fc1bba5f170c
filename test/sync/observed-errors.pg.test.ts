import type { ServerResponse } from 'node:http'
import { beforeEach, expect, test } from 'vitest'
import type { Operation } from '../../src/base/operations.ts'
import { sendJson } from '../../src/demo/stand-in.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { expectNoTrace } from '../privacy/every-text.ts'

let live: Live

beforeEach(async () => {
  live = await openLoaded('none', { settings: { SYNC_RETRIES: '0' } })
})

test('a code never seen before is counted with one sample, over all runs, and known codes are not', async () => {
  const [first, second] = [...live.world.organizationIds()] as [string, string]
  live.standIn.setFaults([
    { kind: 'unknown-error-code', match: { operation: 'users', organizationId: first } },
    { kind: 'not-found', match: { operation: 'users', organizationId: second } },
  ])
  const run = await live.run()
  const failures = await live.rows(
    `select http_status, error_status, count(*)::int as scopes, min(error_message) as message
    from sync.failures where run_id = $1 and organization_id = $2 group by 1, 2`,
    run.run_id,
    first,
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

test('no table contains key or token, wherever a record returns them', async () => {
  const { apiKey, authToken } = live.standIn
  const forms = [apiKey, authToken].flatMap((secret) => [
    secret,
    Buffer.from(secret).toString('base64'),
  ])
  const all = forms.join(' ')
  const user = { userId: `u ${authToken}`, name: all, email: `${apiKey}@corp.example`, [all]: all }
  const comment = { commentText: all, commentHtml: `<p>${all}</p>`, from: user, status: all }
  const data = {
    users: [user, { ...user, userId: 7 }],
    comments: [{ commentId: 1, ...comment }, all],
  }
  const respond = ({ operation }: { operation: Operation }, response: ServerResponse) =>
    sendJson(
      response,
      200,
      JSON.stringify({ result: { status: 'success', data: data[operation] } }),
    )
  live.standIn.setFaults([{ kind: 'custom', respond }])
  await live.run()
  await expectNoTrace(
    live.database,
    forms.map((form) => form.replace(/=+$/, '')),
  )
  const rows = await live.rows('select comment_text from collab.comments limit 1')
  expect(rows).toEqual([{ comment_text: expect.stringMatching(/^(\[secret\]=* ?){4}$/) }])
})

function observed() {
  return live.rows(
    'select operation, http_status, error_status, times, sample from sync.observed_errors',
  )
}
