import { expect, test } from 'vitest'
import { expectTablesEqual, rowsTouched } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

let live: Live

test('when every stored digest is of an older format, one run writes them anew, and the next touches nothing', async () => {
  live = await openLoaded('none')
  await live.run()
  for (const table of ['listings', 'annotations']) {
    await live.database.pool.query(
      `update collab_store.${table} set body_digest = '\\x00', content_digest = '\\x00'`,
    )
  }
  await live.database.pool.query(`update collab_store.comments set digest = '\\x00'`)
  await live.database.pool.query(`update collab_store.users set digest = '\\x00'`)
  const versions = `select count(*)::int as versions from collab.comment_versions`
  const before = await live.database.pool.query(versions)
  expect(await live.run()).toMatchObject({ status: 'succeeded', records_inserted: 0 })
  expect((await live.database.pool.query(versions)).rows).toEqual(before.rows)
  await expectTablesEqual(live.database, live.world)
  const touched = await rowsTouched(live.database)
  expect(await live.run()).toMatchObject({
    status: 'succeeded',
    records_updated: 0,
    users_written: 0,
  })
  expect(await rowsTouched(live.database)).toBe(touched)
})
