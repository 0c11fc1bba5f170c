import type * as z from 'zod'
import { hashEmail } from '../features/privacy/people.ts'
import { checked } from '../schemas/check.ts'
import { KIND_NAMES, SearchRequestSchema } from '../schemas/thing.ts'
import type { Found, SearchResult, ThingIds, ThingKind } from '../schemas/thing.ts'
import type { Settings } from '../settings/table.ts'
import { codeOf } from '../core/database/connection-errors.ts'
import { rolledBack } from '../core/database/pool.ts'
import type { Client } from '../core/database/pool.ts'
import * as privacy from '../core/database/statements/privacy.ts'
import * as things from '../core/database/statements/things.ts'
import type { Parts } from './parts.ts'
import { findRunIds } from './run-reports.ts'

/** Time limit of a search. */
const SEARCH_MS = 2_000
/** Its time limit if it finds a complete ID, which is then mostly what the user looked for. */
const ID_FOUND_MS = 300
/** Maximum number of things of a kind. */
const SHOWN_MAX = 20
const CANCELLED = '57014'
const KINDS = ['organization', 'document', 'userGroup', 'user', 'annotation', 'comment'] as const

/** Searches runs and things. */
export async function search(
  { database, settings: { privacyEmail: emails } }: Pick<Parts, 'database' | 'settings'>,
  request: z.input<typeof SearchRequestSchema>,
): Promise<SearchResult> {
  const text = checked(SearchRequestSchema, request, '').q.trim()
  const runIds = (await findRunIds(database, text)) ?? []
  const items: Found[] = runIds.map((runId) => {
    const isExact = runId === text.toLowerCase()
    return { kind: 'run', ids: null, runId, name: null, isExact }
  })
  const salt = emails === 'hash' ? (await privacy.salt.one(database)).salt : null
  const by = { text, emails, emailHash: salt && hashEmail(salt, text) }
  const notes = notesOn(text, emails)
  // A transaction with its own time limit.
  await rolledBack(database, (client) => findThings(client, by, { items, notes }))
  return { items: items.toSorted((a, b) => Number(b.isExact) - Number(a.isExact)), notes }
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

/** Finds objects by their complete ID, then searches each kind until the time limit. */
async function findThings(
  client: Client,
  by: By,
  { items, notes }: { items: Found[]; notes: string[] },
): Promise<void> {
  const startedMs = Date.now()
  let limitMs = SEARCH_MS
  const left = [...KINDS]
  let byId: readonly FoundThing[] | null = null
  const add = (kind: ThingKind, others: readonly FoundThing[]) => {
    const exact = byId?.filter((each) => each.kind === kind) ?? []
    const known = new Set(exact.map(({ ids }) => JSON.stringify(ids)))
    const found = [...exact, ...others.filter(({ ids }) => !known.has(JSON.stringify(ids)))]
    for (const { ids, name, isExact = true } of found.slice(0, SHOWN_MAX))
      items.push({ kind, ids: ids as ThingIds, runId: null, name, isExact })
    if (found.length > SHOWN_MAX)
      notes.push(`More than ${SHOWN_MAX} ${named([kind])} match; ${SHOWN_MAX} are shown.`)
  }
  const limitTime = () =>
    client.query(`set local statement_timeout = ${Math.max(1, startedMs + limitMs - Date.now())}`)
  try {
    await limitTime()
    byId = await things.searchExact.all(client, { id: by.text })
    if (byId.length > 0) limitMs = ID_FOUND_MS
    for (const kind of KINDS) {
      await limitTime()
      add(
        kind,
        kind === 'comment'
          ? await findComments(client, by.text)
          : await things.search.all(client, { ...by, kind }),
      )
      left.shift()
    }
  } catch (error) {
    if (codeOf(error) !== CANCELLED) throw error
    for (const kind of left) add(kind, [])
    notes.push(`The search reached its time limit before it had searched all ${named(left)}.`)
    if (byId !== null && left.length > 1)
      notes.push('Complete IDs were searched first, except those of comments.')
  }
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
