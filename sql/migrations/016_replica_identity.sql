-- Up Migration
-- Publications of all tables, as for a copy by logical replication, take deletions only of tables whose rows have a key.
alter table collab_store.past_memberships add column stay_id bigint generated always as identity primary key;
comment on column collab_store.past_memberships.stay_id is 'Counts them.';
alter table sync.catalog_lacking add column lacking_id bigint generated always as identity primary key;
comment on column sync.catalog_lacking.lacking_id is 'Counts them.';
