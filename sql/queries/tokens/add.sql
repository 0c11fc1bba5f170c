-- Adds a token. No row if the name exists.
-- Params: $1 name, $2 rights, $3 hash, $4 by.
insert into sync.access_tokens (name, rights, token_hash, created_by) values ($1, $2, $3, $4)
on conflict (name) do nothing
returning token_id
