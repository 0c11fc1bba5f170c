-- The planner's statistics keep samples of values, names and words too: they are taken anew.
-- Params: none.
analyze collab_store.users, collab_store.annotations, collab_store.comments, collab_store.comment_versions,
  collab_store.document_users, collab_store.user_group_members, collab_store.past_memberships, sync.rejected_records, sync.failures,
  sync.held, sync.runs
