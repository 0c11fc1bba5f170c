-- Notes that all stored comments have the time at which they were written; not while a worker lives that does not keep it yet.
-- Params: $1 deadAfterS.
update collab_store.definitions d
set written_members_before = null
where d.written_members_before is not null and not exists (select from sync.workers w
  where w.heartbeat_at > now() - make_interval(secs => $1) and w.started_at < d.written_since)
