-- A claim number later than every claim so far.
-- Params: none.
-- Never null: claim_no.
select nextval('sync.claim_no') as claim_no
