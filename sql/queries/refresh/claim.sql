-- Draws a claim number for polls without a run item, as items/claim does.
-- Params: none.
-- Never null: claim_no, report_time_zone.
-- Prepared.
select nextval('sync.claim_no') as claim_no, (select max(e.erasure_id) from sync.erasures e) as last_erasure, d.written_member,
  d.report_time_zone, d.privacy_email, d.privacy_raw, d.privacy_exclude
from collab_store.definitions d
