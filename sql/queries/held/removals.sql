-- Users whose removal from a listing is pending approval or was refused.
-- Params: $1 operation, $2 kind, $3 scopeKey.
-- Never null: user_id, is_refused.
select unnest(missing_user_ids) as user_id, resolved_at is not null as is_refused
from sync.held
where operation = $1 and kind = $2 and scope_key = $3 and (is_standing or held_id in (select held_id from sync.open_holds))
