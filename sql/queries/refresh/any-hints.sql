-- Whether hinted threads are to be claimed: the conditions of refresh/take-hints.
-- Params: $1 deadAfterS.
-- Never null: any_hints.
-- Prepared.
select exists (
  select from sync.hints where claimed_at is null or claimed_at < clock_timestamp() - make_interval(secs => $1)
) as any_hints
