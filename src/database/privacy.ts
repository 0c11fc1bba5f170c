import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** A row of `sync.erasures`, as far as telling people needs it. */
export interface StoredErasure {
  readonly organizationId: string | null
  readonly pseudonym: string
  readonly emailHashes: readonly string[]
  readonly nameHashes: readonly string[]
}

/** Every erasure, and the number of the newest; 0 where there is none. */
export async function readErasures(
  on: Database | Client,
): Promise<{ last: number; erasures: StoredErasure[] }> {
  const { rows } = await on.query(sql('privacy/erasures'))
  return {
    last: rows.reduce((last, row) => Math.max(last, row.erasure_id), 0),
    erasures: rows.map((row) => ({
      organizationId: row.organization_id,
      pseudonym: row.pseudonym,
      emailHashes: row.email_hashes,
      nameHashes: row.name_hashes,
    })),
  }
}

/** The secret that hashes of this database are made with. */
export async function readSalt(on: Database | Client): Promise<Buffer> {
  const { rows } = await on.query(sql('privacy/salt'))
  return rows[0].salt
}
