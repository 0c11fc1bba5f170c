import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readDictionary } from '../../features/export/dictionary/dictionary.ts'
import { EXIT } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { withTables } from '../with-store.ts'

/** `collab-sync dictionary`: prints a page of the package, or the comments of the database as JSON. */
export async function dictionary(options: {
  format: 'markdown' | 'json' | 'dbt'
  json?: boolean
}): Promise<number> {
  const { format, json } = options
  if (json || format === 'json')
    return withTables({ name: 'dictionary' }, async ({ database }) =>
      printJson(await readDictionary(database)),
    )
  const page = format === 'dbt' ? '#sql/dbt/models/sources.yml' : '#docs/DICTIONARY.md'
  const text = await readFile(fileURLToPath(import.meta.resolve(page)), 'utf8')
  print(text.trimEnd())
  return EXIT.done
}
