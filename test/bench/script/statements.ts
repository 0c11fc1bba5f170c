// Each has a name, so that a connection plans it once.

export const knownUsers = {
  name: 'known-users',
  text: `insert into script.users (organization_id, listed, user_id, name, email, raw)
    select $1, false, * from unnest($2::text[], $3::text[], $4::text[], $5::jsonb[])
    on conflict do nothing`,
}

export const listedUsers = {
  name: 'listed-users',
  text: `insert into script.users as stored (organization_id, listed, user_id, name, email, raw)
    select $1, true, * from unnest($2::text[], $3::text[], $4::text[], $5::jsonb[])
    on conflict (organization_id, user_id) do update set name = excluded.name, email = excluded.email,
      raw = excluded.raw, listed = true, removed_at = null,
      changed_at = case when stored.raw = excluded.raw then stored.changed_at else now() end`,
}

export const removedUsers = {
  name: 'removed-users',
  text: `update script.users set listed = false, removed_at = now()
    where organization_id = $1 and listed and user_id <> all ($2)`,
}

export const organization = {
  name: 'organization',
  text: `insert into script.organizations values ($1, now())
    on conflict (organization_id) do update set checked_at = excluded.checked_at`,
}

export const comments = {
  name: 'comments',
  text: `insert into script.comments as stored (organization_id, document_id, annotation_id, comment_id,
      comment_text, comment_html, author_user_id, author_name, author_email, status, type, last_updated, raw)
    select $1, $2, $3, * from unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::timestamptz[], $13::jsonb[])
    on conflict (organization_id, document_id, annotation_id, comment_id) do update set
      comment_text = excluded.comment_text, comment_html = excluded.comment_html,
      author_user_id = excluded.author_user_id, author_name = excluded.author_name,
      author_email = excluded.author_email, status = excluded.status, type = excluded.type,
      last_updated = excluded.last_updated, raw = excluded.raw, deleted_at = null,
      changed_at = case when stored.raw = excluded.raw then stored.changed_at else now() end`,
}

export const annotation = {
  name: 'annotation',
  text: `insert into script.annotations values ($1, $2, $3, $4, now())
    on conflict (organization_id, document_id, annotation_id) do update set
      comment_count = excluded.comment_count, checked_at = excluded.checked_at`,
}

export const document = membership('document', 'document_id', 'documents', 'document_users')
export const group = membership(
  'group',
  'organization_user_group_id',
  'user_groups',
  'user_group_members',
)

function membership(name: string, key: string, table: string, members: string) {
  return {
    members: {
      name: `${name}-members`,
      text: `insert into script.${members} (organization_id, ${key}, user_id)
        select $1, $2, unnest($3::text[])
        on conflict (organization_id, ${key}, user_id) do update set removed_at = null`,
    },
    removedMembers: {
      name: `removed-${name}-members`,
      text: `update script.${members} set removed_at = now()
        where organization_id = $1 and ${key} = $2 and removed_at is null and user_id <> all ($3)`,
    },
    checked: {
      name: `checked-${name}`,
      text: `insert into script.${table} values ($1, $2, now())
        on conflict (organization_id, ${key}) do update set checked_at = excluded.checked_at`,
    },
  }
}
