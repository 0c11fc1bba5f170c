import { expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { Environment, StandInProcess } from '../cli/built-command.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { startPooler } from '../helpers/pooler.ts'
import { until } from '../helpers/until.ts'

const command = await buildCommand()
const standIn: StandInProcess = await command.startStandIn(
  '--latency',
  '200',
  '--catalog',
  'catalog.ndjson',
)
const database = await createTestDatabase()
const pooler: Awaited<ReturnType<typeof startPooler>> = await startPooler(database.url, 'session')
const settings: Environment = {
  ...standIn.environment,
  DATABASE_URL: pooler.url,
  SYNC_CONCURRENCY: '4',
}
await command.run(['catalog', 'import', 'catalog.ndjson'], settings)

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
