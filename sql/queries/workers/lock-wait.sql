-- A statement of the calling pool that has waited for a lock for more than ten seconds: the first one whose holder does
-- not wait itself.
-- Params: none.
-- Never null: since, lock.
-- Prepared.
select since, lock from sync.lock_waits
where application_name = current_setting('application_name')
order by holder_waits, since
limit 1
