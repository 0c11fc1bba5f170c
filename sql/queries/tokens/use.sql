-- Records the hour in which a token was used, once.
-- Params: $1 tokenId.
update sync.access_tokens
set last_used_at = date_trunc('hour', now())
where token_id = $1 and last_used_at is distinct from date_trunc('hour', now())
