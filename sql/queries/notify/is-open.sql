-- Whether somebody was notified of a subject that is not well again.
-- Params: $1 subject.
-- Never null: open.
select exists (select from sync.notifications where subject = $1 and well_at is null) as open
