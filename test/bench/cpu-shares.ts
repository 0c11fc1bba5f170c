import type { Profiler } from 'node:inspector'

/** What part of the time that the process was computing went into one piece of it. */
export interface ProfileShare {
  readonly name: string
  readonly ms: number
  /** From 0 to 1. */
  readonly share: number
}

/** Self time by piece; waiting is left out. */
export function sharesOf(profile: Profiler.Profile): ProfileShare[] {
  const nameOf = new Map(profile.nodes.map(({ id, callFrame }) => [id, pieceOf(callFrame)]))
  const microseconds = new Map<string, number>()
  let total = 0
  for (const [index, id] of (profile.samples ?? []).entries()) {
    const name = nameOf.get(id)
    if (name === undefined || name === WAITING) continue
    const took = profile.timeDeltas?.[index] ?? 0
    microseconds.set(name, (microseconds.get(name) ?? 0) + took)
    total += took
  }
  return [...microseconds]
    .map(([name, us]) => ({ name, ms: us / 1000, share: us / total }))
    .sort((a, b) => b.ms - a.ms)
}

const WAITING = 'waiting'

/** The piece of the process that a frame belongs to: a folder of ours, a package, or a part of Node. */
function pieceOf({ functionName, url }: Profiler.Profile['nodes'][number]['callFrame']): string {
  if (functionName === '(idle)') return WAITING
  if (functionName === '(garbage collector)') return 'garbage collection'
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(url)?.[1]
  if (library !== undefined && !url.includes('/.cache/')) return library
  const own = /\/(?:src|jobs)\/([\w-]+)/.exec(url)?.[1]
  if (own !== undefined) return `collab-sync ${own}`
  if (functionName === 'hash' || url.startsWith('node:internal/crypto')) return 'hashing'
  if (functionName === 'writev' || functionName === 'writeBuffer') return 'writing to sockets'
  if (url.startsWith('wasm:')) return 'HTTP parser'
  return 'Node itself'
}
