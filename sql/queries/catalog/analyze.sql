-- Updates the planner's statistics of the catalog after a large import.
-- Params: none.
analyze collab_store.organizations, collab_store.batches, collab_store.user_groups,
  collab_store.documents, collab_store.listings, collab_store.annotations;
