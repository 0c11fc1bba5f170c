import { spawnSync } from 'node:child_process'

/** What promtool, of the Debian package `prometheus`, says of some input; empty where it finds nothing. */
export function promtool(
  args: readonly string[],
  options: { input?: string; cwd?: string } = {},
): { code: number | null; told: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { ...options, encoding: 'utf8' })
  return { code: status, told: `${stdout}${stderr}` }
}
