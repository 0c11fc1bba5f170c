-- Revokes a token.
-- Params: $1 name.
delete from sync.access_tokens where name = $1
