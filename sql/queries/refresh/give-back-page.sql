-- Gives a page back whose threads were not all looked at: another worker asks again.
-- Params: $1 pageId, $2 workerId.
update sync.refresh_pages set worker_id = null where page_id = $1 and worker_id = $2
