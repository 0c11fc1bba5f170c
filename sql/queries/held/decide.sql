-- Records an operator's decision on a held removal.
-- Params: $1 heldId, $2 resolution, $3 by, $4 reason?.
update sync.held
set resolved_at = now(), resolution = $2, decided_by = $3, reason = $4, is_standing = $2 = 'refused'
where held_id = $1
