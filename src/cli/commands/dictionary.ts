import * as definitions from '../../core/database/statements/definitions.ts'
import { readDictionary } from '../../features/export/dictionary/dictionary.ts'
import { dictionaryDbt, dictionaryMarkdown } from '../../features/export/dictionary/print.ts'
import { print, printJson } from '../output.ts'
import { withTables } from '../with-store.ts'

/** `collab-sync dictionary`: prints the comments of all tables and views. */
export async function dictionary({
  format,
  json,
}: {
  format: 'markdown' | 'json' | 'dbt'
  json?: boolean
}): Promise<number> {
  return withTables({ name: 'dictionary' }, async ({ database }) => {
    const read = await readDictionary(database)
    if (json || format === 'json') printJson(read)
    else if (format === 'dbt') {
      const { freshnessPromiseS } = await definitions.read.one(database)
      print(dictionaryDbt(read, freshnessPromiseS).trimEnd())
    } else print(dictionaryMarkdown(read).trimEnd())
  })
}
