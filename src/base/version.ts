import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

let build: ReturnType<typeof readBuild> | null = null

/**
 * Which build this is: the version in our package.json, which lies further up both in the sources and in what is built of them,
 * and the commit in the file `commit`, which `npm run build` writes into `dist`; null in the sources.
 */
function readBuild() {
  let directory = import.meta.dirname
  let commit: string | null = null
  while (!existsSync(join(directory, 'package.json'))) {
    const file = join(directory, 'commit')
    if (existsSync(file)) commit = readFileSync(file, 'utf8').trim() || null
    directory = join(directory, '..')
  }
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return { version: version as string, commit }
}

export function version(): string {
  return (build ??= readBuild()).version
}

export function commit(): string | null {
  return (build ??= readBuild()).commit
}

/** Such as `0.1.0 (0123456789ab)`. */
export function describeBuild(): string {
  return commit() === null ? version() : `${version()} (${commit()})`
}

/** The header `user-agent` of every request of this program. */
export function userAgent(): string {
  return `collab-sync/${version()}`
}
