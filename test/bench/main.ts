import { cpus, loadavg, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { comparisons } from './comparisons/index.ts'
import { acceptAsBaseline, worseThanBaseline } from './baseline.ts'
import { printResult } from './print.ts'
import { openServers } from './servers.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { accept: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
})
const chosen = comparisons.filter(
  ({ name }) => positionals.length === 0 || positionals.includes(name),
)
const unknown = positionals.filter(
  (name) => !comparisons.some((comparison) => comparison.name === name),
)

if (values.help === true || unknown.length > 0) {
  for (const name of unknown) console.error(`There is no comparison ${JSON.stringify(name)}.`)
  console.log(
    'npm run bench [-- [--accept] NAME...]\n\n  --accept  write the measured ratios to baseline.json\n',
  )
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
      const result = await comparison.run(servers)
      printResult(comparison, result)
      for (const line of worseThanBaseline(result)) console.log(line)
      if (values.accept) acceptAsBaseline(result)
    }
  } finally {
    await servers.close()
  }
}
