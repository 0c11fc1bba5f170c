import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The version in our package.json, which lies further up both in the sources and in what is built of them. */
export function version(): string {
  let directory = import.meta.dirname
  while (!existsSync(join(directory, 'package.json'))) directory = join(directory, '..')
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).version
}
