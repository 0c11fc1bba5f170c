// What a careful engineer would write instead of collab-sync, for a cron job: `node script.js catalog.ndjson`. It calls
// the service for each line of the catalog and writes each response in one transaction.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import pRetry, { AbortError } from 'p-retry'
import pg from 'pg'
import { Pool } from 'undici'
import * as sql from './statements.ts'
import { TABLES } from './tables.ts'

const IN_FLIGHT = 64
const CONNECTIONS = 16
const RETRIES = 5
const TIMEOUT_MS = 30_000

interface CatalogLine {
  organizationId: string
  documentId?: string
  annotationId?: string
  organizationUserGroupId?: string
}

interface User {
  userId: string
  name?: string
  email?: string
}

interface Comment {
  commentId: number
  commentText?: string
  commentHtml?: string
  from?: User
  status?: string
  type?: string
  lastUpdated?: string
}

const { COLLAB_API_URL = '', COLLAB_API_KEY, COLLAB_AUTH_TOKEN, DATABASE_URL } = process.env
const service = new Pool(new URL(COLLAB_API_URL).origin, {
  connections: IN_FLIGHT,
  headersTimeout: TIMEOUT_MS,
  bodyTimeout: TIMEOUT_MS,
})
const database = new pg.Pool({ connectionString: DATABASE_URL, max: CONNECTIONS })

await database.query(TABLES)
const lines: CatalogLine[] = []
const input = createReadStream(process.argv[2] as string)
for await (const line of createInterface({ input })) if (line !== '') lines.push(JSON.parse(line))

let failures = 0
await pLimit(IN_FLIGHT).map(lines, async (line) => {
  try {
    await pRetry(() => syncLine(line), { retries: RETRIES, minTimeout: 500, randomize: true })
  } catch (error) {
    failures += 1
    console.error(JSON.stringify(line), String(error))
  }
})
console.log(JSON.stringify({ scopes: lines.length, failures }))
await Promise.all([service.close(), database.end()])
process.exitCode = failures > 0 ? 3 : 0

async function syncLine(line: CatalogLine): Promise<void> {
  const { organizationId, documentId, annotationId, organizationUserGroupId } = line
  if (annotationId !== undefined) {
    const filter = { organizationId, documentId, annotationId }
    const comments = await call<Comment>('/v1/commentannotations/comments/get', filter)
    return inTransaction((client) => writeComments(client, line, comments))
  }
  const data =
    organizationUserGroupId === undefined
      ? { organizationId, documentId }
      : { organizationId, organizationUserGroupIds: [organizationUserGroupId] }
  const users = await call<User>('/v1/users/get', data)
  // In one order everywhere, so that transactions that write the same users do not deadlock.
  users.sort((a, b) => (a.userId < b.userId ? -1 : 1))
  return inTransaction((client) => writeUsers(client, line, users))
}

/** Returns the records of a response. Throws AbortError where a retry would not help. */
async function call<T>(path: string, data: object): Promise<T[]> {
  const { statusCode, headers, body } = await service.request({
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': COLLAB_API_KEY,
      'x-service-auth-token': COLLAB_AUTH_TOKEN,
    },
    body: JSON.stringify({ data }),
  })
  if (statusCode !== 200) {
    const message = `HTTP ${statusCode}: ${(await body.text()).slice(0, 200)}`
    if (statusCode < 500 && statusCode !== 429) throw new AbortError(message)
    await sleep((Number(headers['retry-after']) || 0) * 1000)
    throw new Error(message)
  }
  const answer = (await body.json()) as { result?: { status?: string; data?: T[] } }
  const { status, data: records } = answer.result ?? {}
  if (status !== 'success' || !Array.isArray(records)) throw new Error('not a success response')
  return records
}

async function inTransaction(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await database.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** A comment that a response lacks stays: only `null` for its id would be evidence that it was deleted. */
async function writeComments(client: pg.PoolClient, line: CatalogLine, comments: Comment[]) {
  const { organizationId, documentId, annotationId } = line
  const byId = new Map(comments.flatMap(({ from }) => (from?.userId ? [[from.userId, from]] : [])))
  const authors = [...byId.values()].sort((a, b) => (a.userId < b.userId ? -1 : 1))
  await client.query(sql.knownUsers, [organizationId, ...userColumns(authors)])
  await client.query(sql.comments, [
    organizationId,
    documentId,
    annotationId,
    comments.map(({ commentId }) => commentId),
    comments.map(({ commentText }) => commentText),
    comments.map(({ commentHtml }) => commentHtml),
    comments.map(({ from }) => from?.userId),
    comments.map(({ from }) => from?.name),
    comments.map(({ from }) => from?.email),
    comments.map(({ status }) => status),
    comments.map(({ type }) => type),
    comments.map(({ lastUpdated }) => lastUpdated),
    comments.map((comment) => JSON.stringify(comment)),
  ])
  await client.query(sql.annotation, [organizationId, documentId, annotationId, comments.length])
}

async function writeUsers(client: pg.PoolClient, line: CatalogLine, users: User[]) {
  const { organizationId, documentId, organizationUserGroupId } = line
  const ids = users.map(({ userId }) => userId)
  const columns = [organizationId, ...userColumns(users)]
  const parent = documentId ?? organizationUserGroupId
  if (parent === undefined) {
    await client.query(sql.listedUsers, columns)
    if (ids.length > 0) await client.query(sql.removedUsers, [organizationId, ids])
    await client.query(sql.organization, [organizationId])
    return
  }
  const { members, removedMembers, checked } = documentId === undefined ? sql.group : sql.document
  await client.query(sql.knownUsers, columns)
  await client.query(members, [organizationId, parent, ids])
  // An empty listing is no evidence that all have left.
  if (ids.length > 0) await client.query(removedMembers, [organizationId, parent, ids])
  await client.query(checked, [organizationId, parent])
}

function userColumns(users: User[]): unknown[][] {
  return [
    users.map(({ userId }) => userId),
    users.map(({ name }) => name),
    users.map(({ email }) => email),
    users.map((user) => JSON.stringify(user)),
  ]
}
