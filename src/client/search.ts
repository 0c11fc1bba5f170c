import { hashEmail } from '../features/privacy/people.ts'
import { checked } from '../documents/check.ts'
import { KIND_NAMES, SearchRequestSchema } from '../documents/thing.ts'
import type { Found, ThingKind } from '../documents/thing.ts'
import type { Settings } from '../settings/table.ts'
import { codeOf } from '../core/database/connection-errors.ts'
import { rolledBack } from '../core/database/pool.ts'
import type { Client } from '../core/database/pool.ts'
import * as privacy from '../core/database/statements/privacy.ts'
import * as things from '../core/database/statements/things.ts'
import type { CollabSync, Parts } from './collab-sync.ts'
import { findRunIds } from './run-reports.ts'

/** A search ends after this time, whatever is not searched yet. */
const SEARCH_MS = 2_000
/** Of a kind. */
const SHOWN_MAX = 20
const CANCELLED = '57014'
/** In the order in which they are searched: comments take the longest. */
const KINDS = ['organization', 'document', 'userGroup', 'user', 'annotation', 'comment'] as const

/** Finding runs and things by an id, a part of one, a name or an address. */
export function searchOn({
  database,
  settings,
}: Pick<Parts, 'database' | 'settings'>): Pick<CollabSync, 'search'> {
  return {
    async search(request) {
      const text = checked(SearchRequestSchema, request, '').q.trim()
      const emails = settings.privacyEmail
      const notes = notesOn(text, emails)
      const until = Date.now() + SEARCH_MS
      // A transaction of its own, for a time limit of its own.
      const items = await rolledBack(database, async (client) => {
        const found = await findRuns(client, text)
        const salt = emails === 'hash' ? (await privacy.salt.one(client)).salt : null
        const by = { text, emails, emailHash: salt && hashEmail(salt, text) }
        for (const [index, kind] of KINDS.entries()) {
          const ofKind = await findUntil(until, client, kind, by)
          if (ofKind === null) {
            const rest = named(KINDS.slice(index))
            notes.push(
              `The search ended after ${SEARCH_MS / 1000} seconds and did not finish: ${rest}.`,
            )
            break
          }
          if (ofKind.length > SHOWN_MAX)
            notes.push(`More than ${SHOWN_MAX} ${named([kind])} match; ${SHOWN_MAX} are shown.`)
          found.push(...ofKind.slice(0, SHOWN_MAX))
        }
        return found
      })
      return { items: items.toSorted((a, b) => Number(b.isExact) - Number(a.isExact)), notes }
    },
  }
}

function named(kinds: readonly ThingKind[]): string {
  return kinds.map((kind) => `${KIND_NAMES[kind].toLowerCase()}s`).join(', ')
}

function notesOn(text: string, emails: Settings['privacyEmail']): string[] {
  const notes: string[] = []
  if ([...text].length < 3)
    notes.push('A text of fewer than three characters finds only whole ids, names and addresses.')
  if (/^\d{1,3}$/.test(text)) notes.push('Comments are searched by numbers of four digits or more.')
  if (emails === 'hash')
    notes.push('E-mail addresses are found only whole, because PRIVACY_EMAIL is hash.')
  if (emails === 'drop')
    notes.push('E-mail addresses are not searched, because PRIVACY_EMAIL is drop.')
  if (text.includes('@'))
    notes.push('Comments whose author has an address and no user id are not found by the address.')
  return notes
}

async function findRuns(client: Client, text: string): Promise<Found[]> {
  const runIds = (await findRunIds(client, text)) ?? []
  return runIds.map((runId) => {
    const isExact = runId === text.toLowerCase()
    return { kind: 'run', ids: null, runId, name: null, isExact }
  })
}

/** @returns null where the time is over */
async function findUntil(
  until: number,
  client: Client,
  kind: (typeof KINDS)[number],
  by: By,
): Promise<Found[] | null> {
  try {
    await client.query(`set local statement_timeout = ${Math.max(1, until - Date.now())}`)
    return kind === 'comment'
      ? await findComments(client, by.text)
      : await findThings(client, kind, by)
  } catch (error) {
    if (codeOf(error) === CANCELLED) return null
    throw error
  }
}

type By = Omit<Parameters<typeof things.search.all>[1], 'kind'>

async function findThings(
  client: Client,
  kind: Exclude<ThingKind, 'comment'>,
  by: By,
): Promise<Found[]> {
  const rows = await things.search.all(client, { kind, ...by })
  return rows.map(({ organizationId, documentId, id, name, isExact }) => {
    const own = {
      organization: {},
      document: { documentId: id },
      userGroup: { organizationUserGroupId: id },
      user: { userId: id },
      annotation: { documentId: documentId ?? undefined, annotationId: id },
    }
    return { kind, ids: { organizationId, ...own[kind] }, runId: null, name, isExact }
  })
}

/** By a number of four digits or more, which is never exact, or by an annotation and a number: `ann-1/42`, or the path of its page. */
async function findComments(client: Client, text: string): Promise<Found[]> {
  const [, before = null, number = ''] = /^(?:(.+)\/)?\s*(\d{1,15})$/s.exec(text) ?? []
  if (number === '' || (before === null && number.length < 4)) return []
  const path = before?.trim().replaceAll(/\s*\/\s*/g, '/') ?? null
  // Ids may hold slashes, so the annotation may begin behind any.
  const parts = before?.split('/')
  const annotationIds = parts?.map((_, index) => parts.slice(index).join('/').trim()) ?? null
  const by = { commentId: Number(number), annotationIds, path }
  const rows = await things.searchComments.all(client, by)
  return rows.map(({ name, ...ids }) => ({
    kind: 'comment',
    ids,
    runId: null,
    name,
    isExact: before !== null,
  }))
}
