-- Up Migration
-- What one odd record may no longer do: fail a run's counts at its end, or every search.

-- Every commit begins with a batch: with none under way, none holds what is waited for below, or waits for what is held.
lock table collab_store.batches in access exclusive mode;

update sync.run_items
set records_received = records_inserted + records_updated + records_unchanged + records_rejected + records_null
where state = 'pending'
  and records_received <> records_inserted + records_updated + records_unchanged + records_rejected + records_null;

-- Checked with each commit rather than when the run is settled, where it is too late to find the answer that broke it.
alter table sync.run_items add constraint records_add_up check (
  records_received = records_inserted + records_updated + records_unchanged + records_rejected + records_null) not valid;

-- A tsvector holds at most 1 MB of words (PostgreSQL documentation, Limitations of text search): with one longer text every
-- search failed, and the index could not be made. Words of 100,000 characters stay below it, whatever they are.
create or replace function reporting.comment_words(comment_text text) returns tsvector
language sql immutable parallel safe
return to_tsvector('simple', reporting.spaced_text(left(comment_text, 100000)));
comment on function reporting.comment_words(text) is 'The searchable words of the first 100,000 characters of a text: lower case, no stemming; characters one by one in scripts without spaces. The search index is made of it.';
