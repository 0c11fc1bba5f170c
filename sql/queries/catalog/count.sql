-- Counts organizations, documents, annotations and user groups of the catalog, and how many of them are inactive.
-- Params: none.
-- Never null: organizations, inactive_organizations, documents, inactive_documents, annotations, inactive_annotations,
-- user_groups, inactive_user_groups.
select
  (select count(*) filter (where active) from collab_store.organizations) as organizations,
  (select count(*) filter (where not active) from collab_store.organizations) as inactive_organizations,
  (select count(*) filter (where active) from collab_store.documents) as documents,
  (select count(*) filter (where not active) from collab_store.documents) as inactive_documents,
  (select count(*) filter (where active) from collab_store.annotations) as annotations,
  (select count(*) filter (where not active) from collab_store.annotations) as inactive_annotations,
  (select count(*) filter (where active) from collab_store.user_groups) as user_groups,
  (select count(*) filter (where not active) from collab_store.user_groups) as inactive_user_groups
