import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Deletes an unused home of the embedded PostgreSQL. Root's home may have its data elsewhere. */
export function removeHome(home: string): void {
  const note = join(home, 'server-directory')
  if (existsSync(note)) rmSync(readFileSync(note, 'utf8').trim(), { recursive: true, force: true })
  rmSync(home, { recursive: true, force: true })
}
