-- The nightly schedule as a person set it.
-- Params: none.
select cron, time_zone from sync.schedule
