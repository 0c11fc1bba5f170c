-- Resolves held removals of listings, and ends their refusals.
-- Params: $1 kinds, $2 scopeKeys, $3 resolutions.
update sync.held h
set resolved_at = coalesce(h.resolved_at, now()), resolution = coalesce(h.resolution, l.resolution), is_standing = false
from unnest($1::text[], $2::int[], $3::text[]) as l (kind, scope_key, resolution)
where h.kind = l.kind and h.scope_key = l.scope_key and (h.resolved_at is null or h.is_standing)
