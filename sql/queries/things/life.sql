-- A page of the life of an organization, a user group, a document, an annotation or a user, the newest first: versions of a user,
-- users who joined and left, held removals and decisions, failures and what resolved them, rejected records, changes of the
-- catalog, and erasures.
-- Params: $1 object, $2 key (of a user: the organization's), $3 organizationId, $4 documentId?, $5 annotationId?, $6 userGroupId?,
-- $7 userId?, $8 beforeUs? (at in microseconds since 1970) and $9 beforeId? of the last entry of the page before, $10 limit.
-- Never null: at, at_us, id, event, facts.
with versions as (
  select * from collab.user_versions where organization_id = $3 and user_id = $7
), life as (
  select v.valid_from as at, 'version' as event, 'v' || lpad(v.version::text, 10, '0') as id, null::uuid as run_id,
    'user' as object, null::text as document_id, null::text as user_group_id, v.user_id,
    jsonb_build_object('change', v.change, 'name', v.name, 'email', v.email, 'listed', v.listed, 'nameBefore', b.name,
      'emailBefore', b.email, 'hasBefore', b.version is not null) as facts
  from versions v
  left join versions b on b.version = v.version - 1
  union all
  select t.at, t.event, concat_ws(':', t.event, m.document_id, m.organization_user_group_id, m.user_id), null,
    case m.kind when 'document' then 'document_user' else 'user_group_member' end, m.document_id, m.organization_user_group_id,
    m.user_id, '{}'
  from reporting.memberships m
  cross join lateral (values (m.since, 'joined'), (m.until, 'left')) t (at, event)
  where m.organization_id = $3 and t.at is not null
    and (m.document_id = $4 and $5::text is null or m.organization_user_group_id = $6 or m.user_id = $7)
  union all
  select t.at, t.event, t.event || h.held_id, t.run_id, null, h.document_id, h.organization_user_group_id, null,
    jsonb_build_object('users', cardinality(h.missing_user_ids), 'usersBefore', h.users_before, 'resolution', h.resolution,
      'by', h.decided_by, 'reason', h.reason)
  from sync.held h
  cross join lateral (values (h.at, 'held', h.run_id), (h.resolved_at, 'decided', null)) t (at, event, run_id)
  where h.organization_id = $3 and t.at is not null and $5 is null and case when $7::text is not null
    then h.operation = 'users' and h.missing_user_ids @> array[$7] else (h.document_id, h.organization_user_group_id) is not distinct from ($4, $6) end
  union all
  select distinct t.at, t.event, t.event || coalesce(t.id, t.at::text), t.run_id, null, null, null, null, t.facts
  from sync.failures f
  cross join lateral (values
    (f.at, 'failed', f.failure_id::text, f.run_id, jsonb_build_object('httpStatus', f.http_status, 'errorStatus', f.error_status,
      'errorMessage', f.error_message, 'attempts', f.attempts)),
    (f.resolved_at, 'resolved', null, f.resolved_by, '{}')) t (at, event, id, run_id, facts)
  where $7 is null and f.organization_id = $3 and t.at is not null
    and (f.document_id, f.annotation_id, f.organization_user_group_id) is not distinct from ($4, $5, $6)
  union all
  select r.first_seen_at, 'rejected', 'rejected' || r.rejected_record_id, r.run_id, null, null, null, null,
    jsonb_build_object('reason', r.reason, 'isField', r.is_field, 'goneAt', r.gone_at, 'setAsideAt', r.set_aside_at, 'setAsideBy', r.set_aside_by,
      'setAsideReason', r.set_aside_reason)
  from sync.unstored_records r
  where $7 is null and r.organization_id = $3
    and (r.document_id, r.annotation_id, r.organization_user_group_id) is not distinct from ($4, $5, $6)
  union all
  select e.at, 'catalog', 'catalog' || lpad(e.number::text, 20, '0'), null, null, null, null, null,
    jsonb_build_object('change', e.change, 'importId', e.import_id, 'source', e.source, 'by', e.requested_by)
  from collab_store.catalog_events($1, $2) e
  union all
  select erased_at, 'erased', 'x' || erasure_id, null, null, null, null, null, jsonb_build_object('erasureId', erasure_id)
  from sync.erasures
  where pseudonym = $7 and (organization_id is null or organization_id = $3)
), page as (
  select *
  from life
  where $8::bigint is null or (at, id) < (timestamptz 'epoch' + $8 * interval '1 microsecond', $9::text collate "C")
  order by at desc, id collate "C" desc
  limit $10
)
select p.at, (extract(epoch from p.at) * 1000000)::bigint as at_us, p.id, p.event, p.facts, p.document_id, p.user_group_id, p.user_id, u.name as user_name,
  case when p.object is null then p.run_id else collab_store.run_of(p.object, coalesce(d.document_key, g.user_group_key, o.organization_key),
    null, u.person, p.at) end as run_id
from page p
join collab_store.organizations o on o.organization_id = $3
left join collab_store.users u on u.organization_key = o.organization_key and u.user_id = p.user_id
left join collab_store.documents d on d.organization_key = o.organization_key and d.document_id = p.document_id
left join collab_store.user_groups g on g.organization_key = o.organization_key and g.organization_user_group_id = p.user_group_id
order by p.at desc, p.id collate "C" desc
