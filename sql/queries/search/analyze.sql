-- Tells the planner how common each word is, once the search index is made.
-- Params: none.
analyze collab_store.comments
