-- Whether the queue's own schema is in this database.
-- Params: none.
-- Never null: has_queue.
select to_regclass('bullmq.job') is not null as has_queue
