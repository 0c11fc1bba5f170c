import type { Pool, QueryResultRow } from 'pg'
import { canonical, readJson } from './exact-json.ts'
import type { Json } from './exact-json.ts'
import type { Reject } from './comments-model.ts'
import type { UserRow } from './people-model.ts'
import { scopeKey } from './service.ts'

export interface CommentRow {
  /** Its columns and raw, as `contentOf` writes them. */
  readonly content: string
  readonly deleted: boolean
  readonly version: number
  readonly versions: number
  readonly change: string
}

export interface MemberRow {
  readonly isIn: boolean
}

/** What a run stored about a scope. */
export interface ScopeRow {
  readonly failures: { readonly httpStatus: number | null; readonly errorStatus: string | null }[]
  readonly rejects: Reject[]
}

/** The rows of the tables after a run, by scope. */
export interface Tables {
  readonly run: Readonly<Record<string, unknown>>
  readonly scopes: ReadonlyMap<string, ScopeRow>
  readonly comments: ReadonlyMap<string, ReadonlyMap<number, CommentRow>>
  readonly members: ReadonlyMap<string, ReadonlyMap<string, MemberRow>>
  readonly users: ReadonlyMap<string, ReadonlyMap<string, UserRow>>
}

const COMMENTS = `
  select c.organization_id, c.document_id, c.annotation_id, c.comment_id::float8 as comment_id, c.comment_text, c.comment_html,
    c.author_user_id, c.author_name, c.author_email, c.status, c.type,
    (extract(epoch from c.last_updated) * 1000)::float8 as last_updated, c.raw::text as raw,
    c.deleted_at is not null as deleted, v.version, v.versions, v.change
  from collab.comments c
  join (
    select organization_id, document_id, annotation_id, comment_id, max(version) as version, count(*)::int as versions,
      (array_agg(change order by version desc))[1] as change
    from collab.comment_versions group by 1, 2, 3, 4
  ) v using (organization_id, document_id, annotation_id, comment_id)`

const MEMBERS = `
  select organization_id, document_id, null as group_id, user_id, removed_at is null as is_in from collab.document_users
  union all
  select organization_id, null, organization_user_group_id, user_id, removed_at is null from collab.user_group_members`

const USERS = `
  select organization_id, user_id, name, email, raw::text as raw, listed, removed_at is not null as removed from collab.users`

const RUN_COUNTS = [
  'calls',
  'scopes_planned',
  'scopes_failed',
  'scopes_held',
  'scopes_succeeded',
  'rejected',
  'records_rejected',
  'comments_written',
  'comments_deleted',
  'users_removed',
  'members_removed',
]

/** Reads the tables after a run. */
export async function readTables(pool: Pool, runId: string): Promise<Tables> {
  const rows = async (text: string, values: unknown[] = []) =>
    (await pool.query(text, values)).rows as QueryResultRow[]
  const counts = RUN_COUNTS.map((name) => `${name}::float8 as ${name}`).join(', ')
  const [run] = await rows(`select status, ${counts} from sync.runs where run_id = $1`, [runId])
  const comments = new Map<string, Map<number, CommentRow>>()
  for (const row of await rows(COMMENTS)) {
    const key = scopeKey(
      'comments',
      row['organization_id'],
      row['document_id'],
      row['annotation_id'],
    )
    put(comments, key).set(row['comment_id'], commentRow(row))
  }
  const members = new Map<string, Map<string, MemberRow>>()
  for (const row of await rows(MEMBERS)) {
    const key = scopeKey('users', row['organization_id'], row['document_id'], null, row['group_id'])
    put(members, key).set(row['user_id'], { isIn: row['is_in'] })
  }
  const users = new Map<string, Map<string, UserRow>>()
  for (const row of await rows(USERS)) {
    const { name, email, listed, removed } = row as unknown as UserRow
    const raw = canonicalText(row['raw'])
    put(users, row['organization_id']).set(row['user_id'], { name, email, raw, listed, removed })
  }
  return { run: run ?? {}, scopes: await readScopes(rows, runId), comments, members, users }
}

async function readScopes(
  rows: (text: string, values: unknown[]) => Promise<QueryResultRow[]>,
  runId: string,
): Promise<Map<string, ScopeRow>> {
  const scopes = new Map<string, ScopeRow>()
  const of = (row: QueryResultRow) => {
    const key = scopeKey(
      row['operation'],
      row['organization_id'],
      row['document_id'],
      row['annotation_id'],
      row['organization_user_group_id'],
    )
    const scope = scopes.get(key) ?? { failures: [], rejects: [] }
    scopes.set(key, scope)
    return scope
  }
  for (const row of await rows('select * from sync.failures where run_id = $1', [runId]))
    of(row).failures.push({ httpStatus: row['http_status'], errorStatus: row['error_status'] })
  for (const row of await rows('select * from sync.rejected_records where run_id = $1', [runId]))
    of(row).rejects.push({ reason: row['reason'], record: row['record'] })
  return scopes
}

function commentRow(row: QueryResultRow): CommentRow {
  const content = JSON.stringify({
    commentId: row['comment_id'],
    text: row['comment_text'],
    html: row['comment_html'],
    status: row['status'],
    type: row['type'],
    authorUserId: row['author_user_id'],
    authorName: row['author_name'],
    authorEmail: row['author_email'],
    lastUpdated: row['last_updated'],
    raw: canonicalText(row['raw']),
  })
  const { deleted, version, versions, change } = row as unknown as CommentRow
  return { content, deleted, version, versions, change }
}

function canonicalText(raw: string): string {
  return canonical(readJson(raw) as Json)
}

function put<Key, Value>(maps: Map<string, Map<Key, Value>>, key: string): Map<Key, Value> {
  const found = maps.get(key) ?? new Map<Key, Value>()
  maps.set(key, found)
  return found
}
