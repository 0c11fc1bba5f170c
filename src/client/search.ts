import pLimit from 'p-limit'
import type * as z from 'zod'
import { hashEmail } from '../features/privacy/people.ts'
import { checked } from '../schemas/check.ts'
import { KIND_NAMES, SearchRequestSchema } from '../schemas/thing.ts'
import type { Found, SearchResult, ThingIds, ThingKind } from '../schemas/thing.ts'
import type { Settings } from '../settings/table.ts'
import { codeOf } from '../core/database/connection-errors.ts'
import { rolledBack } from '../core/database/pool.ts'
import type { Client, Database } from '../core/database/pool.ts'
import * as privacy from '../core/database/statements/privacy.ts'
import * as things from '../core/database/statements/things.ts'
import type { Parts } from './parts.ts'
import { findRunIds } from './run-reports.ts'

/** Default time limit of a search, so that its page appears at once. */
const SEARCH_MS = 400
/** The least time limit for complete IDs, which are mostly what the user looks for. */
const IDS_MS = 2_000
/** Connections that search for the complete ID of an annotation, which takes half a second for ten million. */
const ANNOTATION_PARTS = 2
const REST_LEAST_MS = 50
/** Searches with a longer time limit share these, so that connections are left for everything else. */
const longSearches = pLimit(2)
/** Maximum number of things of a kind. */
const SHOWN_MAX = 20
const CANCELLED = '57014'
const KINDS = ['organization', 'document', 'userGroup', 'user', 'annotation', 'comment'] as const

/** Searches runs and things. */
export async function search(
  { database, settings: { privacyEmail: emails } }: Pick<Parts, 'database' | 'settings'>,
  request: z.input<typeof SearchRequestSchema>,
): Promise<SearchResult> {
  const { q, seconds } = checked(SearchRequestSchema, request)
  const text = q.trim()
  const runIds = (await findRunIds(database, text)) ?? []
  const items: Found[] = runIds.map((runId) => {
    const isExact = runId === text.toLowerCase()
    return { kind: 'run', ids: null, runId, name: null, isExact }
  })
  const salt = emails === 'hash' ? (await privacy.salt.one(database)).salt : null
  const by = { text, emails, emailHash: salt && hashEmail(salt, text) }
  const found =
    seconds === undefined
      ? await findThings(database, by, SEARCH_MS)
      : await longSearches(() => findThings(database, by, seconds * 1000))
  items.push(...found.items)
  return {
    items: items.toSorted((a, b) => Number(b.isExact) - Number(a.isExact)),
    isComplete: found.isComplete,
    notes: [...notesOn(text, emails), ...found.notes],
  }
}

function notesOn(text: string, emails: Settings['privacyEmail']): string[] {
  const notes = [
    [...text].length < 3 &&
      'A text of fewer than three characters finds only complete IDs, names and addresses.',
    /^\d{1,3}$/.test(text) && 'Comments are searched only by numbers with at least four digits.',
    emails === 'hash' && 'Only complete e-mail addresses are found, because PRIVACY_EMAIL is hash.',
    emails === 'drop' && 'E-mail addresses are not searched, because PRIVACY_EMAIL is drop.',
    text.includes('@') && 'Comments of authors without a user ID are not found by an address.',
  ]
  return notes.filter((note) => note !== false)
}

type By = Omit<Parameters<typeof things.search.all>[1], 'kind'>

/** Finds objects by their complete ID, then searches one kind after the other until the time limit. */
async function findThings(database: Database, by: By, limitMs: number) {
  const startedMs = performance.now()
  const { text: id } = by
  // Each on a connection of its own.
  const searchIds = (search: (client: Client) => Promise<FoundThing[]>) =>
    untilLimit(database, Math.max(limitMs, IDS_MS), [search])
  const byIds = await Promise.all([
    searchIds((client) => things.searchExact.all(client, { id })),
    ...Array.from({ length: ANNOTATION_PARTS }, (_, part) =>
      searchIds((client) =>
        things.searchAnnotations.all(client, { id, part, parts: ANNOTATION_PARTS }),
      ),
    ),
  ])
  const byId = byIds.flat(2)
  const leftMs = Math.max(REST_LEAST_MS, startedMs + limitMs - performance.now())
  const byKind = await untilLimit<FoundThing[]>(
    database,
    leftMs,
    KINDS.map(
      (kind) => (client) =>
        kind === 'comment' ? findComments(client, id) : things.search.all(client, { ...by, kind }),
    ),
  )
  const items: Found[] = []
  const notes: string[] = []
  for (const [index, kind] of KINDS.entries()) {
    const exact = byId.filter((each) => each.kind === kind)
    const known = new Set(exact.map(({ ids }) => JSON.stringify(ids)))
    const others = (byKind[index] ?? []).filter(({ ids }) => !known.has(JSON.stringify(ids)))
    const found = [...exact, ...others]
    for (const { ids, name, isExact = true } of found.slice(0, SHOWN_MAX))
      items.push({ kind, ids: ids as ThingIds, runId: null, name, isExact })
    if (found.length > SHOWN_MAX)
      notes.push(`More than ${SHOWN_MAX} ${named([kind])} match; ${SHOWN_MAX} are shown.`)
  }
  const left = KINDS.slice(byKind.length)
  if (left.length > 0) {
    const limit = `its limit of ${limitMs / 1000} seconds`
    notes.push(`The search ended at ${limit} before it had searched all ${named(left)}.`)
    if (byIds.every(({ length }) => length > 0) && left.length > 1)
      notes.push('Complete IDs were searched, except those of comments.')
  }
  return { items, notes, isComplete: left.length === 0 }
}

/** Runs statements on one connection, one after the other. @returns the results of those that ended within the limit */
async function untilLimit<T>(
  database: Database,
  limitMs: number,
  statements: readonly ((client: Client) => Promise<T>)[],
): Promise<T[]> {
  return rolledBack(database, async (client) => {
    const startedMs = performance.now()
    const results: T[] = []
    try {
      for (const run of statements) {
        const leftMs = Math.max(1, Math.ceil(startedMs + limitMs - performance.now()))
        await client.query(`set local statement_timeout = ${leftMs}`)
        results.push(await run(client))
      }
    } catch (error) {
      if (codeOf(error) !== CANCELLED) throw error
    }
    return results
  })
}

interface FoundThing {
  readonly kind?: string
  readonly ids: unknown
  readonly name: string | null
  /** True if left out. */
  readonly isExact?: boolean
}

function named(kinds: readonly ThingKind[]): string {
  return kinds.map((kind) => `${KIND_NAMES[kind].toLowerCase()}s`).join(', ')
}

/** By a number with at least four digits, or by an annotation and a number: `ann-1/42`, or the path on its page. */
async function findComments(client: Client, text: string) {
  const [, before = null, number = ''] = /^(?:(.+)\/)?\s*(-?\d+)$/s.exec(text) ?? []
  const commentId = Number(number)
  // As when comments are stored: a number beyond 2^53 - 1 would be rounded to the ID of another comment.
  if (!Number.isSafeInteger(commentId)) return []
  if (before === null && !/\d{4}/.test(number)) return []
  const path = before?.trim().replaceAll(/\s*\/\s*/g, '/') ?? null
  // IDs can contain slashes, so the annotation can begin after each of them.
  const parts = before?.split('/')
  const annotationIds = parts?.map((_, index) => parts.slice(index).join('/').trim()) ?? null
  const rows = await things.searchComments.all(client, { commentId, annotationIds, path })
  return rows.map(({ name, ...ids }) => ({ ids, name, isExact: true }))
}
