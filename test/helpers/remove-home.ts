import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Deletes a home of the embedded PostgreSQL that nobody has open; root's may keep its data outside. */
export function removeHome(home: string): void {
  const note = join(home, 'server-directory')
  if (existsSync(note)) rmSync(readFileSync(note, 'utf8').trim(), { recursive: true, force: true })
  rmSync(home, { recursive: true, force: true })
}
