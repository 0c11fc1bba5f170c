import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const texts = new Map<string, string>()

/**
 * The text of one statement, `sql/queries/<name>.sql`, read once.
 * @param name noun and verb, such as `runs/settle`
 * @throws when there is no such file: a programmer's error
 */
export function sql(name: string): string {
  let text = texts.get(name)
  if (text === undefined) {
    text = readFileSync(fileURLToPath(import.meta.resolve(`#sql/queries/${name}.sql`)), 'utf8')
    texts.set(name, text)
  }
  return text
}
