// Loaded with `--import` into a process that is measured: on exit it writes to its fourth stream what the process used.
import { readFileSync, writeSync } from 'node:fs'

process.once('exit', () => {
  const { user, system } = process.cpuUsage()
  // `maxRSS` of `process.resourceUsage()` begins with what the parent held when it forked.
  const peakKb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
  writeSync(3, JSON.stringify({ cpuS: (user + system) / 1e6, peakMb: peakKb / 1000 }))
})
