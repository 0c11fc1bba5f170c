-- Takes back an erasure that found nothing at all.
-- Params: $1 erasureId.
delete from sync.erasures
where erasure_id = $1
  and users + comments + comment_versions + memberships + mentions_in_records + rejected_records + messages + held + scopes + user_versions = 0
returning erasure_id
