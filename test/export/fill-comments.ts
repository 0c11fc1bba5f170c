import type { Database } from '../../src/core/database/pool.ts'

/** Comments made by SQL, of 100 authors under one organization: as many as a test wants, in seconds. */
export async function fillComments(
  database: { readonly pool: Database },
  comments: number,
): Promise<void> {
  await database.pool.query(`
    insert into collab_store.organizations (organization_id) values ('o');
    insert into collab_store.batches (organization_key, batch_no, operation)
    select organization_key, 0, 'comments' from collab_store.organizations;
    insert into collab_store.batches (organization_key, batch_no, operation)
    select organization_key, 1, 'users' from collab_store.organizations;
    insert into collab_store.listings (batch_key, scope_no, scope_key, kind, operation)
    select batch_key, 0, organization_key, 'organization', operation from collab_store.batches where operation = 'users';
    insert into collab_store.documents (organization_key, document_id)
    select organization_key, 'd' from collab_store.organizations;
    insert into collab_store.annotations (document_key, batch_key, scope_no, annotation_id)
    select document_key, batch_key, 0, 'a' || n from collab_store.documents, collab_store.batches b, generate_series(1, 1000) n
    where b.operation = 'comments'`)
  await database.pool.query(
    `insert into collab_store.comments (organization_key, annotation_key, comment_id, last_updated, first_seen_at, changed_at,
      version_at, version, digest, change, status, type, author_user_id, author_name, author_email, comment_text, comment_html)
    select d.organization_key, a.annotation_key, n, now() - make_interval(secs => n), now(), now(), now(), 1, '\\x00', 'added', 'added', 'text',
      'user-' || n % 100, 'Name of ' || n % 100, 'user' || n % 100 || '@example.com',
      'Comment ' || n || ': ' || repeat(md5(n::text) || ' ', 1 + n % 8), '<p>' || n || '</p>'
    from generate_series(1, $1::int) n
    join (select annotation_key, row_number() over () - 1 as place from collab_store.annotations) a on a.place = n % 1000
    cross join collab_store.documents d`,
    [comments],
  )
}
