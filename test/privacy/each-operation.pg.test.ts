import { describe, expect, test } from 'vitest'
import { OPERATION_NAMES, OPERATIONS } from '../../src/base/operations.ts'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import type { Definitions } from '../../src/core/database/definitions.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { RulesKeeper } from '../../src/features/privacy/rules.ts'
import { openLoaded } from '../helpers/live.ts'

/** What every operation must leave out of its records, in members that docs/SERVICE.md does not show. */

const live = await openLoaded('none')
const [organizationId = ''] = live.world.organizationIds()
await live.run()
const person = live.world.users(organizationId)?.find(({ email }) => email)
const { userId = '', email = '' } = person ?? {}
const { pool } = live.database
const { pseudonym } = await eraseUser(pool, { userId, organizationId: null, reason: 'a letter' })

test('a comment by an erased person keeps no words, and a user who is erased no name', async () => {
  const redact = (await new RulesKeeper(pool).now()).redact(organizationId)
  const from = { userId, name: 'N' }
  const comment = redact?.comments({ commentId: 1, from, commentText: 'words' })
  expect(comment).toEqual({ commentId: 1, from: { userId: pseudonym } })
  expect(redact?.users(from)).toEqual({ userId: pseudonym })
})

describe.each(OPERATION_NAMES)('a record of %s', (operation) => {
  const redacted = async (privacy: Partial<Definitions>, item: unknown) => {
    await setDefinitions(pool, { freshnessPromiseMs: 93_600_000, ...privacy })
    return (await new RulesKeeper(pool).now()).redact(organizationId)?.[operation](item)
  }

  test('keeps no id or address of an erased person', async () => {
    const item = { reviewers: [userId], note: `ask ${email}` }
    const kept = { reviewers: [pseudonym], note: expect.stringMatching(/^ask erased:\w+$/) }
    expect(await redacted({}, item)).toEqual(kept)
  })

  test('keeps no address under PRIVACY_EMAIL=drop, and no such member under PRIVACY_RAW=drop', async () => {
    const item = { note: 'ask ann@mail.example', mail: 'ann@mail.example' }
    expect(await redacted({ privacyEmail: 'drop' }, item)).toEqual({ note: 'ask ' })
    expect(await redacted({ privacyRaw: 'drop' }, item)).toEqual({})
    expect(await redacted({ privacyEmail: 'drop' }, 'ann@mail.example')).toBeNull()
  })

  test('keeps no field of PRIVACY_EXCLUDE, and every response of it alone is read again', async () => {
    const privacyExclude = `${OPERATIONS[operation].record}.note`
    await setDefinitions(pool, { freshnessPromiseMs: 93_600_000, privacyExclude })
    const rules = await new RulesKeeper(pool).now()
    expect(rules.leaveOut[operation]?.({ note: 'a', other: 1 })).toEqual({ other: 1 })
    const digest = Buffer.alloc(32, 7)
    const readAgain = OPERATION_NAMES.filter((each) => !rules.sealed(each, digest).equals(digest))
    expect(readAgain).toEqual([operation])
  })
})
