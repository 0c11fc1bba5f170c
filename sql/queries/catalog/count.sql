-- Counts organizations, documents, annotations and user groups of the catalog, and how many of them are inactive. Active
-- annotations are counted by batch, inactive ones by their index.
-- Params: none.
-- Never null: organizations, inactive_organizations, documents, inactive_documents, annotations, inactive_annotations,
-- user_groups, inactive_user_groups.
select
  (select count(*) filter (where active) from collab_store.organizations) as organizations,
  (select count(*) filter (where not active) from collab_store.organizations) as inactive_organizations,
  (select count(*) filter (where active) from collab_store.documents) as documents,
  (select count(*) filter (where not active) from collab_store.documents) as inactive_documents,
  (select coalesce(sum(scopes), 0)::bigint from collab_store.batches where operation = 'comments') as annotations,
  (select count(*) from collab_store.annotations where not active) as inactive_annotations,
  (select count(*) filter (where active) from collab_store.user_groups) as user_groups,
  (select count(*) filter (where not active) from collab_store.user_groups) as inactive_user_groups
