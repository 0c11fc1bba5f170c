import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'

const ROOT = resolve(import.meta.dirname, '../..')

export const fileText = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
export const isThere = (path: string): boolean => existsSync(join(ROOT, path))

/** Every document of a YAML file, merge keys resolved. @throws where it is not well-formed, or a key comes twice */
export function yamlDocuments(path: string): any[] {
  // What Compose writes as `!reset null` is that text here.
  const customTags = [{ tag: '!reset', resolve: (value: string) => `!reset ${value}` }]
  const documents = parseAllDocuments(fileText(path), { merge: true, customTags })
  return [...documents].map((document) => {
    const [fault] = [...document.errors, ...document.warnings]
    if (fault !== undefined) throw new Error(`${path}: ${fault.message}`)
    return document.toJS()
  })
}
