import { define, isObject } from '../../base/json.ts'
import type { Json } from '../../base/json.ts'
import { pathName, readMemberPath, splitPaths } from '../../base/member-path.ts'
import type { MemberPath } from '../../base/member-path.ts'

/**
 * Makes the function that leaves the fields of `PRIVACY_EXCLUDE` out of records of one kind. It returns copies, because the
 * received record is still read for its key and the time of its writing. Null if no path concerns these records.
 */
export function leavingOut(
  exclude: string | null,
  object: MemberPath['object'],
): ((item: unknown) => unknown) | null {
  const paths = splitPaths(exclude ?? '').flatMap((text) => {
    const read = readMemberPath(text)
    return read?.object === object ? [read.path] : []
  })
  return paths.length === 0 ? null : (item) => paths.reduce(without, item)
}

function without(value: unknown, [name, ...below]: readonly string[]): unknown {
  if (Array.isArray(value)) {
    if (name !== '[]') return value
    return below.length === 0 ? [] : value.map((item) => without(item, below))
  }
  if (!isObject(value)) return value
  const kept: Json = {}
  for (const own in value) {
    const isNamed = name === '*' || name === pathName(own)
    if (!isNamed) define(kept, own, value[own])
    else if (below.length > 0) define(kept, own, without(value[own], below))
  }
  return kept
}
