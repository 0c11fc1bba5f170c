-- Resolves held removals of listings of an operation, and ends their refusals.
-- Params: $1 operation, $2 kinds, $3 scopeKeys, $4 resolutions.
update sync.held h
set resolved_at = coalesce(h.resolved_at, now()), resolution = coalesce(h.resolution, l.resolution), is_standing = false
from unnest($2::text[], $3::int[], $4::text[]) as l (kind, scope_key, resolution)
where h.operation = $1 and h.kind = l.kind and h.scope_key = l.scope_key and (h.resolved_at is null or h.is_standing)
