import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { beforeEach, describe, expect, test } from 'vitest'
import { urlWith } from '../helpers/database.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { QUEUE_KINDS, isMissing } from '../helpers/live.ts'
import { ownFolder } from '../helpers/own-folder.ts'
import { redisUrl } from '../helpers/redis.ts'
import { openRig } from './rig.ts'
import type { Rig } from './rig.ts'
import { openOwnRedis } from '../helpers/own-redis.ts'
import { textsOf } from '../privacy/every-text.ts'

const KEY = 'key-31d7c0ffee'
const TOKENS = ['token-one-5ca1ab1e', 'token-two-5eedcafe', 'token-bad-0badf00d'] as const
const WORLD = { organizations: 4, documentsPerOrganization: 5, annotationsPerDocument: 10 }

describe.each(QUEUE_KINDS)('key and token, with the queue on %s', (queue) => {
  let rig: Rig
  let keyFile: string
  let tokenFile: string
  let settings: Record<string, string>

  beforeEach(async (context) => {
    if (isMissing(queue)) return context.skip()
    const standIn = { apiKey: KEY, authToken: TOKENS[0], latencyMs: 30 }
    rig = await openRig(queue, { world: WORLD, standIn })
    const directory = ownFolder()
    keyFile = join(directory, 'key')
    tokenFile = join(directory, 'token')
    writeFileSync(keyFile, `${KEY}\n`)
    writeFileSync(tokenFile, `${TOKENS[0]}\n`)
    settings = {
      COLLAB_API_KEY: '',
      COLLAB_AUTH_TOKEN: '',
      COLLAB_API_KEY_FILE: keyFile,
      COLLAB_AUTH_TOKEN_FILE: tokenFile,
      LOG_LEVEL: 'trace',
    }
  })

  test.each(['key', 'token'])(
    'a %s that is changed in mid-run, its file with it, is taken up: the run succeeds',
    async (changed) => {
      const runId = await rig.startRun()
      const worker = await rig.start(settings)
      await rig.callsReach(60)
      writeFileSync(changed === 'key' ? keyFile : tokenFile, TOKENS[1])
      rig.standIn[changed === 'key' ? 'apiKey' : 'authToken'] = TOKENS[1]
      expect(await rig.settled(runId, 180_000)).toMatchObject({ status: 'succeeded' })
      expect(await worker.stop()).toBe(0)
      await expectTablesEqual(rig.database, rig.world)
      expect(rig.standIn.calls.log.some(({ status }) => status === 401)).toBe(true)
      await expectNoSecret(worker.stderr())
    },
  )

  test('a token that is refused for good ends the run within a handful of calls, with one clear sentence, and the next run starts afresh', async () => {
    writeFileSync(tokenFile, TOKENS[2])
    // An answer at once is the hardest: the word of the first one has to be quicker than the calls after it.
    rig.standIn.latencyMs = 0
    const runId = await rig.startRun()
    const worker = await rig.start(settings)
    const run = await rig.settled(runId, 180_000)
    expect(run).toMatchObject({ status: 'failed' })
    expect(run['problem']).toMatch(/401/)
    // Those in flight when the first one is refused, and no more: far below the 60 that are allowed.
    expect(rig.standIn.calls.total).toBeLessThanOrEqual(32)
    await expectNoSecret(worker.stderr() + JSON.stringify(run))

    writeFileSync(tokenFile, TOKENS[0])
    const next = await rig.startRun()
    expect(await rig.settled(next, 180_000)).toMatchObject({ status: 'succeeded' })
    await worker.stop()
    await expectTablesEqual(rig.database, rig.world)
  })

  test('a service that sends key and token back in its errors does not get them into a table or a log', async () => {
    rig.standIn.setFaults([
      {
        kind: 'custom',
        rate: 0.2,
        respond: (_request, response) => {
          response.writeHead(400, { 'content-type': 'application/json' })
          const message = `refused ${KEY} and ${TOKENS[0]}`
          response.end(JSON.stringify({ error: { message, status: `CODE_${TOKENS[0]}` } }))
        },
      },
    ])
    const runId = await rig.startRun()
    const worker = await rig.start(settings)
    const run = await rig.settled(runId, 180_000)
    expect(run).toMatchObject({ status: 'partial' })
    await worker.stop()
    await expectNoSecret(worker.stderr() + JSON.stringify(run))
  })

  /** Neither in what was written to stderr, nor in any table of the database, nor in any key of the queue. */
  async function expectNoSecret(told: string): Promise<void> {
    const rows = await textsOf(rig.database)
    const dump = [told, ...rows.keys(), ...rows.values(), ...(await everyKey())].join('\n')
    expect(dump.length).toBeGreaterThan(10_000)
    for (const secret of [KEY, ...TOKENS]) expect(dump).not.toContain(secret)
  }

  async function everyKey(): Promise<string[]> {
    if (queue !== 'redis') return []
    const redis = new Redis(redisUrl() as string)
    const texts = []
    for (const key of await redis.keys(`${rig.environment['QUEUE_PREFIX']}:*`))
      // DUMP holds short texts as they are, whatever the type of the key.
      texts.push(key, (await redis.dumpBuffer(key))?.toString('latin1') ?? '')
    redis.disconnect()
    return texts
  }
})

test('passwords of addresses are in no error and no log, also where the servers refuse them', async (context) => {
  if (redisUrl() === undefined) return context.skip()
  const redis = await openOwnRedis({ password: 'right-password' })
  const rig = await openRig('postgres', { world: WORLD })
  const told: string[] = []
  const refused = async (settings: Record<string, string>) => {
    try {
      const worker = await rig.start({ ...settings, LOG_LEVEL: 'trace' })
      await worker.stop()
      told.push(worker.stderr())
    } catch (error) {
      told.push((error as Error).message)
    }
  }
  await refused({ REDIS_URL: redis.url.replace('right-password', 'hunter2-redis') })
  await refused({
    DATABASE_URL: urlWith(rig.database.url, {
      username: 'nobody_here',
      password: 'hunter2-postgres',
    }),
  })
  await redis.close()
  expect(told.join('')).toMatch(/WRONGPASS|invalid username-password/)
  expect(told.join('')).toMatch(/nobody_here|refuses the user|authentication/)
  expect(told.join('')).not.toMatch(/hunter2/)
}, 300_000)
