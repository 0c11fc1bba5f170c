-- Where a listing lies that is held and waits, and the run that last saw its answer.
-- Params: $1 heldId.
select held_id, batch_key, run_id
from sync.held
where held_id = $1 and resolved_at is null
