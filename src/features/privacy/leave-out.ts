import { define, isObject } from '../../base/json.ts'
import type { Json } from '../../base/json.ts'
import { pathName, readMemberPath, splitPaths } from '../../base/member-path.ts'
import type { MemberPath } from '../../base/member-path.ts'

/** By name; null for a field that is left out. */
type Tree = Map<string, Tree | null>

/**
 * Makes the function that leaves the fields of `PRIVACY_EXCLUDE` out of records of one kind. It returns copies, because the
 * received record is still read for its key and the time of its writing. Null if no path concerns these records.
 */
export function leavingOut(
  exclude: string | null,
  object: MemberPath['object'],
): ((item: unknown) => unknown) | null {
  const tree: Tree = new Map()
  for (const text of splitPaths(exclude ?? '')) {
    const read = readMemberPath(text)
    if (read?.object === object) add(tree, read.path)
  }
  return tree.size === 0 ? null : (item) => without(item, tree)
}

function add(tree: Tree, [name = '', ...below]: readonly string[]): void {
  const known = tree.get(name)
  if (known === null) return
  if (below.length === 0) tree.set(name, null)
  else {
    const next: Tree = known ?? new Map()
    tree.set(name, next)
    add(next, below)
  }
}

function without(value: unknown, tree: Tree): unknown {
  if (Array.isArray(value)) {
    const items = tree.get('[]')
    if (items === undefined) return value
    return items === null ? [] : value.map((item) => without(item, items))
  }
  if (!isObject(value)) return value
  const any = tree.get('*')
  const kept: Json = {}
  for (const name in value) {
    const own = tree.get(pathName(name))
    if (own === null || any === null) continue
    let member = value[name]
    if (any !== undefined) member = without(member, any)
    if (own !== undefined) member = without(member, own)
    define(kept, name, member)
  }
  return kept
}
