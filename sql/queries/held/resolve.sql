-- Closes what is held of listings, and ends what was refused of them.
-- Params: $1 kind, $2 scopeKeys, $3 resolution.
update sync.held
set resolved_at = coalesce(resolved_at, now()), resolution = coalesce(resolution, $3), is_standing = false
where kind = $1 and scope_key = any($2::int[]) and (resolved_at is null or is_standing)
