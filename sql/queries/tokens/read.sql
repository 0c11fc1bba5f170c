-- All current tokens.
-- Params: none.
select token_id, name, rights, created_at, created_by, last_used_at, token_hash from sync.access_tokens order by name
