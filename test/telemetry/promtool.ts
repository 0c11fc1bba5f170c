import { spawnSync } from 'node:child_process'

/** Whether promtool (of the Debian package `prometheus`) is on the PATH; tests that want it are skipped without it. */
export const HAS_PROMTOOL = spawnSync('promtool', ['--version']).status === 0

if (!HAS_PROMTOOL) {
  const problem = 'No promtool on the PATH: what only it can check is SKIPPED'
  const line = '!'.repeat(problem.length)
  console.warn(`\n${line}\n${problem}.\n${line}\n`)
}

/** What promtool says of some input; empty where it finds nothing. @throws never */
export function promtool(
  args: readonly string[],
  options: { input?: string; cwd?: string } = {},
): { code: number | null; told: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { ...options, encoding: 'utf8' })
  return { code: status, told: `${stdout}${stderr}` }
}
