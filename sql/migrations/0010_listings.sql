-- Up Migration
-- Listings for people and programs, page by page in the order of a key: each page is read through an index, and nothing is
-- counted for it that grows with the comments.

alter table collab_store.batches add column comments integer not null default 0;
comment on column collab_store.batches.comments is 'Live comments stored under its annotations, kept by a trigger: to add them up for a page of large organizations takes half a second.';

update collab_store.batches b
set comments = n.comments
from (select batch_key, sum(comment_count) as comments from collab_store.annotations group by batch_key) n
where b.batch_key = n.batch_key and n.comments > 0;

-- A trigger, so that the sum is right whatever statement writes to annotations. Once a statement, not once a row; whoever
-- changes counts of comments holds the batch already, so that nobody waits for it.
create function collab_store.add_up_comments() returns trigger
language plpgsql
as $$
begin
  update collab_store.batches b
  set comments = b.comments + d.more
  from (
    select n.batch_key, sum(n.comment_count - o.comment_count) as more
    from new_rows n
    join old_rows o using (annotation_key)
    where n.comment_count <> o.comment_count
    group by n.batch_key
  ) d
  where b.batch_key = d.batch_key and d.more <> 0;
  return null;
end
$$;
comment on function collab_store.add_up_comments() is 'Keeps batches.comments equal to the sum of comment_count over the batch''s annotations. For the trigger of annotations.';

create trigger add_up_comments after update on collab_store.annotations
referencing old table as old_rows new table as new_rows
for each statement execute function collab_store.add_up_comments();
comment on trigger add_up_comments on collab_store.annotations is 'Keeps batches.comments.';

create index failures_of_organization on sync.failures (organization_id, failure_id);
comment on index sync.failures_of_organization is 'Failures of one organization, the newest first.';
create index failures_of_organization_at on sync.failures (organization_id, at);
comment on index sync.failures_of_organization_at is 'Which of its scopes failed since it was last gone through.';
create index rejected_records_waiting on sync.rejected_records (rejected_record_id) where replayed_at is null;
comment on index sync.rejected_records_waiting is 'Rejected records that no replay has stored yet, the newest first.';
create index held_waiting on sync.held (organization_id, held_id) where resolved_at is null;
comment on index sync.held_waiting is 'Held listings that wait for a person, by organization.';
