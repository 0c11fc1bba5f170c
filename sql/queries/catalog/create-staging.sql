-- Creates what a change of the catalog collects in its transaction: what is to become inactive, and batches whose number of
-- active scopes changes, some of them several times.
-- Params: none.
create temp table import_lacking (kind text not null, organization_key integer, key integer not null) on commit drop;
create temp table import_touched_batches (batch_key integer not null) on commit drop;
