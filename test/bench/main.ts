import { cpus, loadavg, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { comparisons } from './comparisons/index.ts'
import { printResult } from './print.ts'
import { openServers } from './servers.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h' },
    annotations: { type: 'string', default: '1000000' },
  },
})
const chosen = comparisons.filter(({ name, isOnlyByName = false }) =>
  positionals.length === 0 ? !isOnlyByName : positionals.includes(name),
)
const unknown = positionals.filter(
  (name) => !comparisons.some((comparison) => comparison.name === name),
)

if (values.help === true || unknown.length > 0) {
  for (const name of unknown) console.error(`There is no comparison ${JSON.stringify(name)}.`)
  console.log('npm run bench [-- NAME... [--annotations N]]\n')
  for (const { name, title } of comparisons) console.log(`  ${name.padEnd(12)} ${title}`)
  process.exitCode = unknown.length > 0 ? 2 : 0
} else {
  await main()
}

async function main(): Promise<void> {
  const servers = await openServers()
  try {
    const { rows } = await servers.admin.query('show server_version')
    // The load is that of other programs, which make every figure worse.
    console.log(
      `${cpus()[0]?.model}, ${cpus().length} cores, ${Math.round(totalmem() / 1e9)} GB; Node ${process.version}, PostgreSQL ${rows[0].server_version}; load ${loadavg()[0]?.toFixed(2)}; ${new Date().toISOString().slice(0, 10)}`,
    )
    for (const comparison of chosen) {
      printResult(
        comparison,
        await comparison.run(servers, { annotations: Number(values.annotations) }),
      )
    }
  } finally {
    await servers.close()
  }
}
