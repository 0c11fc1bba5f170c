-- Up Migration
-- Who reads which rows.

-- Policies never bind the owner of the tables, which is the worker. They bind collab_views, the role that the views belong
-- to once they are in use: a condition in a policy is checked before any condition of a query, so that no function in a
-- query sees more. The questions whom one is are sub-selects, which are answered once a query and not once a row.
-- For a role of single organizations (`granted`) a policy is an organization's key alone, so that an index serves it, or
-- that the row it belongs to may be seen, looked up row by row: the planner takes a list of keys for half of the table.
do $$
declare
  everything constant text := '(select collab_store.sees_every_organization(current_user))';
  own constant text := 'any(array(select g.organization_key from collab_store.organization_grants g
    where pg_has_role(current_user, to_regrole(quote_ident(g.role_name))::oid, ''usage'')))';
  document constant text := 'exists (select from collab_store.documents d where d.document_key = %1$s.document_key)';
  user_group constant text := 'exists (select from collab_store.user_groups u where u.user_group_key = %1$s.user_group_key)';
  annotation constant text := 'exists (select from collab_store.annotations a where a.annotation_key = %1$s.annotation_key)';
  documents constant text := format('(select d.document_key from collab_store.documents d
    where d.organization_key = %s)', own);
  groups constant text := format('(select u.user_group_key from collab_store.user_groups u
    where u.organization_key = %s)', own);
  annotations constant text := format('(select a.annotation_key
    from collab_store.documents d join collab_store.annotations a using (document_key)
    where d.organization_key = %s)', own);
  ids constant text := format('(select o.organization_id from collab_store.organizations o
    where o.organization_key = %s)', own);
  policy record;
begin
  for policy in
    select table_name, condition, format(granted, table_name) as granted
    from (values
      ('collab_store.organizations', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.batches', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.documents', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.user_groups', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.users', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.comments', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.annotations', 'document_key in ' || documents, document),
      ('collab_store.document_users', 'document_key in ' || documents, document),
      ('collab_store.user_group_members', 'user_group_key in ' || groups, user_group),
      ('collab_store.past_memberships', format('(document_key in %s or user_group_key in %s)', documents, groups),
        document || ' or ' || user_group),
      ('collab_store.comment_versions', 'annotation_key in ' || annotations, annotation),
      ('collab_store.organization_grants_by_role', 'true', null),
      ('sync.failures', 'organization_id in ' || ids, null),
      ('sync.rejected_records', 'organization_id in ' || ids, null),
      ('sync.held', 'organization_id in ' || ids, null)
    ) as v (table_name, condition, granted)
  loop
    execute format(
      case when policy.granted is null then 'create policy granted_organizations on %1$s using (%2$s or %3$s) with check (true)'
        else 'create policy granted_organizations on %1$s
          using (case when collab_store.reads_granted_only() then %4$s else %2$s or %3$s end) with check (true)' end,
      policy.table_name, everything, policy.condition, policy.granted);
  end loop;
end
$$;

-- It holds nothing of an organization: whoever may read a view may know when a row is stale.
create policy everybody on collab_store.definitions using (true);

-- As for users.
create policy granted_organizations on collab_store.user_versions
using (case when collab_store.reads_granted_only()
  then organization_key = any(array(select g.organization_key from collab_store.organization_grants g
    where pg_has_role(current_user, to_regrole(quote_ident(g.role_name))::oid, 'usage')))
  else (select collab_store.sees_every_organization(current_user))
    or organization_key = any(array(select g.organization_key from collab_store.organization_grants g
      where pg_has_role(current_user, to_regrole(quote_ident(g.role_name))::oid, 'usage'))) end)
with check (true);

-- Nobody reads them but through the functions below, which look at what was granted by themselves.
create policy nobody on collab_store.changes using (false) with check (true);

create policy nobody on collab_store.changes_pruned using (false) with check (true);

create policy nobody on collab_store.added_columns using (false) with check (true);

create policy nobody on collab_store.observed_records using (false) with check (true);

create policy everything on collab_store.observed_members
  using ((select collab_store.sees_every_organization(current_user))) with check (true);

-- It holds keys and times, and nobody but the views reads it.
create policy everybody on collab_store.recent_threads using (true);

create policy granted_organizations on collab_store.renames
using (
  (select collab_store.sees_every_organization(current_user))
  or organization_key = any(array(select g.organization_key from collab_store.organization_grants g
    where pg_has_role(current_user, to_regrole(quote_ident(g.role_name))::oid, 'usage')))
) with check (true);
