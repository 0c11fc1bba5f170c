import pg from 'pg'

/**
 * What a good developer writes in an afternoon, to compare with: a job a document that fetches its users and the comments of
 * its annotations and upserts what came. No check, no evidence, no history, no counts, no pace, no retry.
 */
export class PlainLoop {
  readonly #pool: pg.Pool
  readonly #ask: Ask
  readonly #statements: 'one a row' | 'multi-row'
  calls = 0
  comments = 0

  constructor(pool: pg.Pool, ask: Ask, statements: 'one a row' | 'multi-row') {
    this.#pool = pool
    this.#ask = ask
    this.#statements = statements
  }

  async syncDocument({ organizationId, documentId, annotationIds }: DocumentJob): Promise<void> {
    const users = await this.#call('/v1/users/get', { organizationId, documentId })
    // In one order everywhere: without it two statements of many rows deadlock within seconds.
    users.sort((a, b) => (String(a['userId']) < String(b['userId']) ? -1 : 1))
    await this.#upsert(
      USERS,
      users.map((user) => [
        organizationId,
        user['userId'],
        user['name'],
        user['email'],
        JSON.stringify(user),
      ]),
    )
    for (const annotationId of annotationIds) {
      const filter = { organizationId, documentId, annotationId }
      const comments = await this.#call('/v1/commentannotations/comments/get', filter)
      this.comments += comments.length
      await this.#upsert(USERS, authorsOf(organizationId, comments))
      await this.#upsert(
        COMMENTS,
        comments.map((comment) => rowOf(filter, comment)),
      )
    }
  }

  async #call(path: string, data: object): Promise<Record<string, unknown>[]> {
    this.calls += 1
    const body = await this.#ask(path, data)
    return (JSON.parse(body) as { result: { data: Record<string, unknown>[] } }).result.data
  }

  async #upsert({ one, many }: Upsert, rows: readonly unknown[][]): Promise<void> {
    if (this.#statements === 'one a row') {
      for (const row of rows) await this.#pool.query(one, row)
    } else if (rows.length > 0) {
      const columns = (rows[0] as unknown[]).map((_, column) => rows.map((row) => row[column]))
      await this.#pool.query(many, columns)
    }
  }
}

/** Answers a call of the service with the text of the body. */
export type Ask = (path: string, data: object) => Promise<string>

export interface DocumentJob {
  readonly organizationId: string
  readonly documentId: string
  readonly annotationIds: readonly string[]
}

/** The contract's columns with the contract's keys, and nothing else: what the loop's own tables would be. */
export const PLAIN_TABLES = `
  create schema plain;
  create table plain.users (organization_id text, user_id text, name text, email text, raw jsonb,
    primary key (organization_id, user_id));
  create table plain.comments (organization_id text, document_id text, annotation_id text, comment_id bigint,
    comment_text text, comment_html text, author_user_id text, author_name text, author_email text, status text,
    type text, last_updated timestamptz, raw jsonb, first_seen_at timestamptz default now(),
    changed_at timestamptz default now(), deleted_at timestamptz,
    primary key (organization_id, document_id, annotation_id, comment_id));`

interface Upsert {
  readonly one: string
  readonly many: string
}

const USERS = upsert(
  'users',
  { organization_id: 'text', user_id: 'text', name: 'text', email: 'text', raw: 'jsonb' },
  2,
)
const COMMENTS = upsert(
  'comments',
  {
    organization_id: 'text',
    document_id: 'text',
    annotation_id: 'text',
    comment_id: 'bigint',
    comment_text: 'text',
    comment_html: 'text',
    author_user_id: 'text',
    author_name: 'text',
    author_email: 'text',
    status: 'text',
    type: 'text',
    last_updated: 'timestamptz',
    raw: 'jsonb',
  },
  4,
)

/** @param keys how many of the columns are the key */
function upsert(table: string, columns: Readonly<Record<string, string>>, keys: number): Upsert {
  const names = Object.keys(columns)
  const set = names.slice(keys).map((name) => `${name} = excluded.${name}`)
  const insert = `insert into plain.${table} (${names.join(', ')})`
  const conflict = `on conflict (${names.slice(0, keys).join(', ')}) do update set ${set.join(', ')}`
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`)
  return {
    one: `${insert} values (${names.map((_, index) => `$${index + 1}`).join(', ')}) ${conflict}`,
    many: `${insert} select * from unnest(${arrays.join(', ')}) ${conflict}`,
  }
}

function rowOf(
  filter: { organizationId: string; documentId: string; annotationId: string },
  comment: Record<string, unknown>,
): unknown[] {
  const from = (comment['from'] ?? {}) as Record<string, unknown>
  return [
    filter.organizationId,
    filter.documentId,
    filter.annotationId,
    comment['commentId'],
    comment['commentText'],
    comment['commentHtml'],
    from['userId'],
    from['name'],
    from['email'],
    comment['status'],
    comment['type'],
    comment['lastUpdated'],
    JSON.stringify(comment),
  ]
}

/** The authors of an answer: those who are in no listing have their row too (contract.md, Tables). */
function authorsOf(
  organizationId: string,
  comments: readonly Record<string, unknown>[],
): unknown[][] {
  const authors = new Map<string, unknown[]>()
  for (const { from } of comments) {
    const { userId, name, email } = (from ?? {}) as Record<string, unknown>
    if (typeof userId !== 'string') continue
    authors.set(userId, [organizationId, userId, name, email, JSON.stringify(from)])
  }
  return [...authors.values()].sort(([, a], [, b]) => (String(a) < String(b) ? -1 : 1))
}

/** Every document of a world, with its annotations. */
export function documentJobs(lines: Iterable<object>): DocumentJob[] {
  const jobs = new Map<
    string,
    { organizationId: string; documentId: string; annotationIds: string[] }
  >()
  for (const line of lines) {
    if (!('documentId' in line)) continue
    const { organizationId, documentId, annotationId } = line as Record<string, string | undefined>
    if (organizationId === undefined || documentId === undefined) continue
    const key = JSON.stringify([organizationId, documentId])
    const job = jobs.get(key) ?? { organizationId, documentId, annotationIds: [] }
    jobs.set(key, job)
    if (annotationId !== undefined) job.annotationIds.push(annotationId)
  }
  return [...jobs.values()]
}
