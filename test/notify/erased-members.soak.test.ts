import { expect, test } from 'vitest'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { startReceiver } from './receiver-server.ts'
import { lookTogether, openRig } from './rig.ts'

test('what is told of members is read when it is sent: nothing of who was erased, nor of what was deleted', async () => {
  const receiver = await startReceiver()
  const rig = await openRig([{ shape: 'json', url: `${receiver.url}/hook` }])
  const three = [rig.notifier(), rig.notifier(), rig.notifier()]
  const told = () => receiver.received.map(({ body }) => body)
  const { pool } = rig.database
  // As if somebody had looked for two days.
  await pool.query(`update sync.notify_watch set watching_since = now() - interval '48 hours'`)
  const notice = (...path: string[]) =>
    pool.query(
      `insert into sync.member_changes (object, path, change, types) values ('comment', $1, 'new', '{boolean}')`,
      [path],
    )
  for (const id of ['user-7', '42', 'user-8']) await notice('readBy', id)
  receiver.answer(503)
  await lookTogether(three)
  receiver.answer(200)
  const due = () => pool.query('update sync.notification_deliveries set next_at = now()')
  const state = async () =>
    (
      await pool.query(
        `select n.facts - 'at' as facts, d.sent_at is not null as sent, d.given_up_at is not null as given_up, d.problem
        from sync.notifications n join sync.notification_deliveries d using (notification_id) order by n.noted_at`,
      )
    ).rows
  expect(await state()).toEqual([
    {
      facts: { kind: 'members.changed', numbers: [1, 2, 3] },
      sent: false,
      given_up: false,
      problem: 'HTTP 503',
    },
  ])
  const erased = { organizationId: null, reason: 'asked' }
  const seven = await eraseUser(pool, { ...erased, userId: 'user-7' })
  const fortyTwo = await eraseUser(pool, { ...erased, userId: '42' })
  // As where the keys of an object become one path.
  await pool.query('delete from sync.member_changes where number = 3')
  await due()
  await lookTogether(three)
  expect(told()).toMatchObject([
    {
      data: {
        members: 2,
        first: [
          { member: `readBy.${seven.pseudonym}` },
          { member: `readBy.${fortyTwo.pseudonym}` },
        ],
      },
    },
  ])
  expect(receiver.received.at(-1)?.text).not.toMatch(/user-|42"/)

  // The answer was lost: the same message under its id, as far as there is something left.
  await pool.query('delete from sync.member_changes where number = 1')
  await pool.query('update sync.notification_deliveries set sent_at = null')
  await due()
  await lookTogether(three)
  const [first, again] = receiver.received.slice(-2)
  expect(again?.body).toMatchObject({ id: first?.body.id, timestamp: first?.body.timestamp })
  expect(told()[1]).toMatchObject({ data: { members: 1 } })

  await notice('likes', 'user-9')
  receiver.answer(503)
  await lookTogether(three)
  receiver.answer(200)
  await pool.query('delete from sync.member_changes')
  await due()
  await lookTogether(three)
  expect(told()).toHaveLength(2)
  expect(await state()).toMatchObject([
    { sent: true },
    { sent: false, given_up: true, problem: null },
  ])
})
