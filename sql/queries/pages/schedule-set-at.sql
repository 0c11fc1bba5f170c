-- When a person last set or removed the nightly schedule; nothing where nobody did.
-- Params: none.
select set_at from sync.schedule
