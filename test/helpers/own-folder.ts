import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closedAtEnd } from './closing.ts'

/** An empty folder, removed when the test that made it ends, or the file where none did. */
export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'collab-sync-'))
  closedAtEnd(async () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
