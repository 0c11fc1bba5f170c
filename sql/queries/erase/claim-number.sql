-- Returns a claim number later than all claims so far.
-- Params: none.
-- Never null: claim_no.
select nextval('sync.claim_no') as claim_no
