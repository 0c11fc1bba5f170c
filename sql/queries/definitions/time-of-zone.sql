-- The time in a time zone; fails for one that PostgreSQL does not know.
-- Params: $1 timeZone.
select now() at time zone $1 as there
