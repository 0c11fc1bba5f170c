import { RECORDS } from './columns.ts'
import type { RecordName } from './operations.ts'

/** A field of a record, as `collab_store.observed_members` has it: `[]` for array elements, `*` for any name. */
export interface MemberPath {
  readonly object: RecordName
  readonly path: readonly string[]
}

const PATH = /(?:"(?:[^"\\]|\\.)*"|[^\s"])+/g
const OF_RECORD = new RegExp(`^(${Object.keys(RECORDS).join('|')})([.[].*)$`)
const PART = /\.("(?:[^"\\]|\\.)*"|[^."[\]…]+)|(\[\])/gy

/** Splits paths at the blanks between them. A name with a blank is quoted. */
export function splitPaths(text: string): string[] {
  return text.match(PATH) ?? []
}

/** Reads a path as `reporting.observed_members` writes it, after the name of a record; null if it is none. */
export function readMemberPath(text: string): MemberPath | null {
  const [, object, rest = ''] = OF_RECORD.exec(text) ?? []
  const parts = [...rest.matchAll(PART)]
  if (parts.map(([part]) => part).join('') !== rest) return null
  const path = parts.map(([, name, items]) => items ?? nameIn(name ?? ''))
  if (path.length === 0 || path.some((name) => name === null)) return null
  return { object, path } as MemberPath
}

function nameIn(text: string): string | null {
  if (!text.startsWith('"')) return text
  try {
    return pathName(JSON.parse(text) as string)
  } catch {
    return null
  }
}

/** A name as part of a path: quoted if it would have a meaning of its own. */
export function pathName(name: string): string {
  return name === '*' || name === '[]' ? JSON.stringify(name) : name
}

/** Whether docs/SERVICE.md shows the field, one that contains it, or one in it. */
export function isDocumented({ object, path }: MemberPath): boolean {
  const { key, columns } = RECORDS[object]
  return [key, ...columns.flatMap(({ member }) => member ?? [])].some((member) => {
    const documented = member.split('.')
    return path.every(
      (name, at) => at >= documented.length || name === '*' || name === documented[at],
    )
  })
}
