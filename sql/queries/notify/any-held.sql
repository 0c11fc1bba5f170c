-- Whether a listing that somebody was notified of still waits for a person.
-- Params: none.
-- Never null: waits.
select exists (select from sync.held where told_at is not null and resolved_at is null) as waits
