import { describe, expect, test } from 'vitest'
import { OPERATION_NAMES } from '../../src/base/operations.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { RulesKeeper } from '../../src/features/privacy/rules.ts'
import type { PrivacyPolicy } from '../../src/features/privacy/rules.ts'
import { openLive } from '../helpers/live.ts'

/** What every operation must leave out of its records, in members that docs/SERVICE.md does not show. */

const live = await openLive('none')
const [organizationId = ''] = live.world.organizationIds()
await live.importCatalog()
await live.run()
const person = live.world.users(organizationId)?.find(({ email }) => email)
const { userId = '', email = '' } = person ?? {}
const { pool } = live.database
const { pseudonym } = await eraseUser(pool, { userId, organizationId: null, reason: 'a letter' })

describe.each(OPERATION_NAMES)('a record of %s', (operation) => {
  const redacted = async (policy: PrivacyPolicy, item: unknown) =>
    (await new RulesKeeper(pool, policy).now()).redact(organizationId)?.[operation](item)

  test('keeps no id or address of an erased person', async () => {
    const item = { reviewers: [userId], note: `ask ${email}` }
    const kept = { reviewers: [pseudonym], note: expect.stringMatching(/^ask erased:\w+$/) }
    expect(await redacted({ email: 'keep', raw: 'keep' }, item)).toEqual(kept)
  })

  test('keeps no address under PRIVACY_EMAIL=drop, and no such member under PRIVACY_RAW=drop', async () => {
    const item = { note: 'ask ann@mail.example', mail: 'ann@mail.example' }
    expect(await redacted({ email: 'drop', raw: 'keep' }, item)).toEqual({ note: 'ask ' })
    expect(await redacted({ email: 'keep', raw: 'drop' }, item)).toEqual({})
  })
})
