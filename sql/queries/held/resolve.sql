-- Closes what is held of a listing.
-- Params: $1 kind, $2 scopeKeys, $3 resolution.
update sync.held set resolved_at = now(), resolution = $3
where kind = $1 and scope_key = any($2::int[]) and resolved_at is null
