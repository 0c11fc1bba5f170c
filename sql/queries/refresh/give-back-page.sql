-- Returns a page of which not all polls finished. Another worker polls all of it again.
-- Params: $1 pageId, $2 workerId.
update sync.refresh_pages set worker_id = null where page_id = $1 and worker_id = $2
