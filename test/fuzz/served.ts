import type { Pool } from 'pg'
import type { LoggedCall } from '../service/call-log.ts'
import {
  expectedComments,
  expectedDeletedComments,
  expectedDocumentUsers,
  expectedGroupMembers,
} from '../service/expected.ts'
import type { World } from '../../src/demo/world.ts'

/** Rows as one text each, by the scope that they belong to. */
type Rows = Map<string, Set<string>>

const QUERIES = {
  comments:
    'select organization_id, document_id, annotation_id, comment_id, raw from collab.comments where deleted_at is null',
  gone: 'select organization_id, document_id, annotation_id, comment_id from collab.comments where deleted_at is not null',
  users: 'select organization_id, user_id, raw from collab.users where listed',
  documents:
    'select organization_id, document_id, user_id from collab.document_users where removed_at is null',
  groups:
    'select organization_id, organization_user_group_id, user_id from collab.user_group_members where removed_at is null',
}

/** Compares what is live in the tables with what a world serves. */
export class Served {
  readonly #pool: Pool
  readonly #world: World
  /** Comments that the service answered null for at some time. */
  readonly #everDeleted = new Set<string>()

  constructor(pool: Pool, world: World) {
    this.#pool = pool
    this.#world = world
  }

  /** To be called after each change of the world. */
  noteDeleted(): void {
    for (const { organizationId, documentId, annotationId, commentId } of expectedDeletedComments(
      this.#world,
    ))
      this.#everDeleted.add(text([organizationId, documentId, annotationId, commentId]))
  }

  /** Complaints of scopes whose answers were sound: they failed, or are not as the service has them. */
  async compareSound(runId: string, broken: readonly LoggedCall[]): Promise<string[]> {
    const spoilt = new Set(broken.map(scopeOf))
    const complaints = await this.#failed(runId, spoilt)
    const held = await this.#pool.query('select * from sync.held where resolved_at is null')
    for (const row of held.rows) spoilt.add(scopeOfRow(row))
    const failed = await this.#pool.query('select * from sync.failures where run_id = $1', [runId])
    for (const row of failed.rows) spoilt.add(scopeOfRow(row))
    complaints.push(...(await this.#deletedWithoutEvidence()))
    return [...complaints, ...this.#differences(await this.#stored(), spoilt)]
  }

  /** Complaints of every row that is not as the service has it. */
  async compareAll(): Promise<string[]> {
    return [
      ...(await this.#deletedWithoutEvidence()),
      ...this.#differences(await this.#stored(), new Set()),
    ]
  }

  async #failed(runId: string, spoilt: ReadonlySet<string>): Promise<string[]> {
    const { rows } = await this.#pool.query('select * from sync.failures where run_id = $1', [
      runId,
    ])
    return rows
      .filter((row) => row.error_status === 'worker_died' || !spoilt.has(scopeOfRow(row)))
      .filter((row) => row.error_status !== 'breaker_open')
      .map((row) => `${scopeOfRow(row)} failed: ${row.error_status} ${row.error_message}`)
  }

  async #deletedWithoutEvidence(): Promise<string[]> {
    const { rows } = await this.#pool.query({ text: QUERIES.gone, rowMode: 'array' })
    // Ids of its own breakage are in no world.
    const known = new Set(
      [...expectedComments(this.#world)].map((each) =>
        text([each.organizationId, each.documentId, each.annotationId, each.commentId]),
      ),
    )
    return rows
      .map(text)
      .filter((key) => known.has(key) && !this.#everDeleted.has(key))
      .map((key) => `${key} is deleted without evidence`)
  }

  async #stored(): Promise<Rows> {
    const rows: Rows = new Map()
    const read = async (query: string, ids: number) => {
      const result = await this.#pool.query({ text: query, rowMode: 'array' })
      for (const row of result.rows as unknown[][]) put(rows, row.slice(0, ids), row.slice(ids))
    }
    await read(QUERIES.comments, 3)
    await read(QUERIES.users, 1)
    await read(QUERIES.documents, 2)
    const groups = await this.#pool.query({ text: QUERIES.groups, rowMode: 'array' })
    for (const [organizationId, groupId, userId] of groups.rows as string[][])
      put(rows, [organizationId, `group ${groupId}`], [userId])
    return rows
  }

  #expected(): Rows {
    const rows: Rows = new Map()
    const world = this.#world
    for (const { organizationId, documentId, annotationId, commentId, comment } of expectedComments(
      world,
    ))
      put(rows, [organizationId, documentId, annotationId], [commentId, comment])
    for (const organizationId of world.organizationIds())
      for (const user of world.users(organizationId) ?? [])
        put(rows, [organizationId], [user.userId, user])
    for (const each of expectedDocumentUsers(world))
      put(rows, [each.organizationId, each.documentId], [each.userId])
    for (const each of expectedGroupMembers(world))
      put(rows, [each.organizationId, `group ${each.organizationUserGroupId}`], [each.userId])
    return rows
  }

  #differences(stored: Rows, spoilt: ReadonlySet<string>): string[] {
    const expected = this.#expected()
    const complaints: string[] = []
    for (const scope of new Set([...stored.keys(), ...expected.keys()])) {
      if (spoilt.has(scope)) continue
      const [has, should] = [stored.get(scope) ?? EMPTY, expected.get(scope) ?? EMPTY]
      for (const row of should)
        if (!has.has(row)) complaints.push(`${scope} lacks ${row.slice(0, 300)}`)
      for (const row of has)
        if (!should.has(row)) complaints.push(`${scope} has ${row.slice(0, 300)}`)
    }
    return complaints
  }
}

const EMPTY: ReadonlySet<string> = new Set()

function put(rows: Rows, scope: readonly unknown[], row: readonly unknown[]): void {
  const key = text(scope)
  const found = rows.get(key) ?? new Set()
  rows.set(key, found)
  found.add(text(row))
}

function scopeOf({ data }: LoggedCall): string {
  const { organizationId, documentId, annotationId, organizationUserGroupIds } = (data ?? {}) as {
    organizationId?: string
    documentId?: string
    annotationId?: string
    organizationUserGroupIds?: readonly string[]
  }
  return keyOf(organizationId, documentId, annotationId, organizationUserGroupIds?.[0])
}

function scopeOfRow(row: Record<string, string | null>): string {
  return keyOf(
    row['organization_id'],
    row['document_id'],
    row['annotation_id'],
    row['organization_user_group_id'],
  )
}

function keyOf(
  ...[organizationId, documentId, annotationId, groupId]: readonly (string | null | undefined)[]
) {
  const group = groupId === null || groupId === undefined ? [] : [`group ${groupId}`]
  return text(
    [organizationId, documentId, annotationId].filter((id) => typeof id === 'string').concat(group),
  )
}

/** With the members of every object in order. */
function text(value: readonly unknown[]): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
