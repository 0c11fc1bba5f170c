-- Up Migration
-- Without continuous refresh a hint is a narrowed run, and one that comes while such a run waits for a worker is that run.

create index queued_hints on sync.runs using hash (scope) where trigger = 'hint' and status = 'queued';
comment on index sync.queued_hints is 'Finds the run of a hint that no worker has begun.';
