import { execFile } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Where process ids mean the same as here: host name and, on Linux, the process id namespace, so
 * that two containers on one volume are told apart.
 */
export async function thisMachine(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return `${hostname()} ${namespace}`.trim()
}

/**
 * When a process began, in the system's own notation, which together with the id names it for
 * good; null when there is no such process, '' where the system does not tell.
 */
export async function startOf(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
    if (stat === null) return null
    // The name in parentheses may hold spaces: fields are counted from its end. The first is the
    // state (Z: killed, only not yet collected), the twentieth the start in clock ticks since boot.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? '')
  }
  if (process.platform === 'win32') return ''
  return run('ps', ['-o', 'lstart=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  )
}

/** Whether this process is the PostgreSQL server of that data directory, not one that got its id. */
export async function isPostmasterOf(dataDirectory: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform === 'win32') return true
  if (process.platform === 'linux') {
    // The command line, because root in a container may not read the working directory of others.
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    const words = commandLine.split('\0')
    return words[1] === '-D' && words[2] === dataDirectory
  }
  return run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.includes(`-D ${dataDirectory} `),
    () => false,
  )
}

/** Whether any process has this id, a killed one that nobody collected included. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
