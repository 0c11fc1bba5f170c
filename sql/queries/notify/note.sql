-- Creates a notification of a kind of sync.attention; no row if it exists already.
-- Params: $1 thing, $2 kind, $3 subject? (the kind of sync.attention that can be resolved), $4 facts.
insert into sync.notifications (thing, kind, subject, facts)
values ($1, $2, $3, $4)
on conflict (thing) do nothing
