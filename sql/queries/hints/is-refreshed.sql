-- Whether continuous refresh polls hinted annotations.
-- Params: none.
-- Never null: is_refreshed.
select refresh_budget is not null as is_refreshed from collab_store.definitions
