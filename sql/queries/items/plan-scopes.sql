-- Plans the scopes that a run names: all, only those that fail now, or those that failed in an earlier run and still
-- fail. Creates one item per batch.
-- Params: $1 runId, $2 operations, $3 organizationIds? (null for all active ones), $4 documentId?, $5 annotationId?
-- (null for all active ones of the document), $6 userGroupIds?, $7 areUsersNamed (organizations are queried for some
-- users), $8 failedOf? (the earlier run), $9 isFailing (only scopes that fail now), $10 areWhole (organizations are
-- synced as a whole).
-- Never null: item_id, kind, round.
with wanted as (
  select d.organization_key, a.batch_key, a.scope_no
  from collab_store.annotations a
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  where 'comments' = any($2) and o.organization_id = any($3) and d.document_id = $4
    and case when $5::text is null then a.active else a.annotation_id = $5 end
  union all
  select n.organization_key, l.batch_key, l.scope_no
  from (
    select d.organization_key, 'document' as kind, d.document_key as scope_key
    from collab_store.documents d
    join collab_store.organizations o using (organization_key)
    where o.organization_id = any($3) and d.document_id = $4
    union all
    select g.organization_key, 'group', g.user_group_key
    from collab_store.user_groups g
    join collab_store.organizations o using (organization_key)
    where ($3::text[] is null or o.organization_id = any($3)) and g.organization_user_group_id = any($6::text[])
    union all
    select organization_key, 'organization', organization_key
    from collab_store.organizations
    where $7::boolean and case when $3::text[] is null then active else organization_id = any($3) end
  ) n
  join collab_store.listings l on l.kind = n.kind and l.scope_key = n.scope_key and l.operation = any($2)
  union all
  select b.organization_key, x.batch_key, x.scope_no
  from sync.failing_scopes x
  join collab_store.batches b using (batch_key)
  join collab_store.organizations o using (organization_key)
  where $10::boolean and b.operation = any($2) and ($3::text[] is null or o.organization_id = any($3))
  union all
  select b.organization_key, f.batch_key, f.scope_no
  from sync.failures f
  join sync.failing_scopes x on x.batch_key = f.batch_key and x.scope_no = f.scope_no
  join collab_store.batches b on b.batch_key = f.batch_key
  where f.run_id = $8::uuid and f.resolved_at is null
), planned as (
  insert into sync.run_items (run_id, kind, organization_key, batch_key, only_scopes, scopes_planned)
  select $1, 'sync-batch', organization_key, batch_key, bit_or(set_bit(repeat('0', 256)::varbit, scope_no, 1)),
    count(distinct scope_no)
  from wanted
  where not $9::boolean or (batch_key, scope_no) in (select batch_key, scope_no from sync.failing_scopes)
  group by organization_key, batch_key
  order by batch_key
  returning item_id, kind, round, scopes_planned
), expected as (
  update sync.runs set scopes_expected = (select coalesce(sum(scopes_planned), 0) from planned)
  where run_id = $1
)
select item_id, kind, round from planned order by item_id
