import { parseArgs } from 'node:util'
import { comparisons } from './comparisons/index.ts'
import { readBaseline, slowerThan, writeBaseline } from './baseline.ts'
import { describeMachine, machineLine } from './machine.ts'
import { printResult } from './print.ts'
import { openServers } from './servers.ts'
import { writePage } from './page.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { accept: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
})
const chosen = comparisons.filter(({ name, isOnlyByName = false }) =>
  positionals.length === 0 ? !isOnlyByName : positionals.includes(name),
)
const unknown = positionals.filter(
  (name) => !comparisons.some((comparison) => comparison.name === name),
)

if (values.help === true || unknown.length > 0) {
  for (const name of unknown) console.error(`There is no comparison ${JSON.stringify(name)}.`)
  console.log(
    'npm run bench [-- [--accept] NAME...]\n\n  --accept  keep what is measured as the baseline, and write docs/PERFORMANCE.md\n',
  )
  for (const { name, title, isOnlyByName } of comparisons)
    console.log(`  ${name.padEnd(12)} ${title}${isOnlyByName ? ' (only by its name)' : ''}`)
  process.exitCode = unknown.length > 0 ? 2 : 0
} else {
  await main()
}

async function main(): Promise<void> {
  const servers = await openServers()
  try {
    const machine = await describeMachine(servers.admin, servers.redisVersion)
    console.log(machineLine(machine))
    for (const comparison of chosen) {
      const result = await comparison.run(servers)
      printResult(comparison, result)
      for (const line of slowerThan(readBaseline(), comparison.name, result)) console.log(line)
      if (values.accept) {
        writeBaseline(comparison.name, { machine, ...result })
        writePage(readBaseline())
      }
    }
  } finally {
    await servers.close()
  }
}
