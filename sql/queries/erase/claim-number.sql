-- A claim number later than every claim so far.
-- Params: none.
select nextval('sync.claim_no') as claim_no
