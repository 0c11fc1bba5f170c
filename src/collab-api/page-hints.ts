/**
 * True when a success body hints that its `result.data` is one page of several. Paging is not shown
 * (service-api.md, Endpoints), so any usual word for it counts, beside `result`, in it, and in objects
 * within either; the items of `data` are not looked at.
 * @param items how many `data` has
 */
export function isOnePageOfSeveral(body: Record<string, unknown>, items: number): boolean {
  return hasHint(body, items, 0)
}

/** Deeper than any envelope is; the body is a stranger's. */
const MAX_DEPTH = 6

// prettier-ignore
const MORE_FOLLOWS = new Set([
  'next', 'nextpage', 'nextpagetoken', 'nexttoken', 'nextcursor', 'nexturl', 'nextlink', 'nexturi',
  'nextoffset', 'nextkey', 'nextmarker', 'pagetoken', 'cursor', 'endcursor', 'aftercursor', 'marker',
  'hasmore', 'hasnext', 'hasnextpage', 'hasmorepages', 'moreresults', 'more', 'morehref',
  'continuation', 'continuationtoken', 'lastevaluatedkey', 'startafter', 'resumetoken',
  'truncated', 'istruncated', 'partial', 'ispartial', 'incomplete',
])
const TOTAL_ITEMS = new Set(['total', 'totalcount', 'totalitems', 'totalresults', 'totalsize'])
const TOTAL_PAGES = new Set(['totalpages', 'pagecount', 'numpages'])

function hasHint(object: Record<string, unknown>, items: number, depth: number): boolean {
  for (const name in object) {
    const value = object[name]
    // Arrays are the data, whatever they are called; `message` and the like are plain texts.
    if (value === null || value === undefined || Array.isArray(value)) continue
    const word = name.toLowerCase().replaceAll(/[^a-z]/g, '')
    if (MORE_FOLLOWS.has(word) && saysSo(value)) return true
    if (TOTAL_ITEMS.has(word) && Number(value) > items) return true
    if (TOTAL_PAGES.has(word) && Number(value) > 1) return true
    if (word === 'status' && typeof value === 'string' && /partial|incomplete/i.test(value)) {
      return true
    }
    if (typeof value === 'object' && depth < MAX_DEPTH) {
      if (hasHint(value as Record<string, unknown>, items, depth + 1)) return true
    }
  }
  return false
}

function saysSo(value: unknown): boolean {
  if (typeof value === 'string') return !/^\s*(|0|no|none|null|false)\s*$/i.test(value)
  if (typeof value === 'object') return value !== null && Object.keys(value).length > 0
  return Boolean(value)
}
