import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** The migrations of commit 86924ef, which the baseline took the place of, by name in their order. */
export const BEFORE_BASELINE: ReadonlyMap<string, string> = new Map(
  Object.entries<string>(
    JSON.parse(
      gunzipSync(
        readFileSync(join(import.meta.dirname, 'migrations-before-baseline.json.gz')),
      ).toString(),
    ),
  ),
)
