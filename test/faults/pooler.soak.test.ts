import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand, Environment, StandInProcess } from '../cli/built-command.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { startPooler } from '../helpers/pooler.ts'
import { until } from '../helpers/until.ts'

let command: BuiltCommand
let standIn: StandInProcess
let database: TestDatabase
let pooler: Awaited<ReturnType<typeof startPooler>>
let settings: Environment
beforeAll(async () => {
  command = await buildCommand()
  standIn = await command.startStandIn('--latency', '200', '--catalog', 'catalog.ndjson')
  database = await createTestDatabase()
  pooler = await startPooler(database.url, 'session')
  settings = { ...standIn.environment, DATABASE_URL: pooler.url, SYNC_CONCURRENCY: '4' }
  await command.run(['catalog', 'import', 'catalog.ndjson'], settings)
})
afterAll(async () => {
  await command?.remove()
  await pooler?.close()
  await database?.drop()
})

test.each([
  ['XX000', '(EDBHANDLEREXITED) connection to database closed'],
  ['53300', 'sorry, too many clients already'],
  ['28P01', 'password authentication failed'],
])(
  '%s in mid-run, for longer than a connection is waited for: the run goes on',
  async (code, message) => {
    const before = (await standIn.control()).total
    const { ended } = command.start(['run', '--json'], settings)
    await until('a third of the calls is made', async () => {
      const { total } = await standIn.control()
      return total - before > 100
    })
    const [refused, since] = [pooler.refused(), performance.now()]
    await pooler.fail({ code, message })
    await until('it was away for 20 s', () => performance.now() - since > 20_000)
    // Two queues and the tables, each with a few callers, once a second: more would be a loop without a pause.
    expect(pooler.refused() - refused).toBeLessThan(2_000)
    await pooler.fail(null)
    const { code: exit, stdout } = await ended
    expect({ exit, run: JSON.parse(stdout) }).toMatchObject({
      exit: 0,
      run: { status: 'succeeded' },
    })
  },
)
