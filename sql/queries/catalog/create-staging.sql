-- Creates temporary tables for one change of the catalog: scopes to deactivate, and batches whose number of active
-- scopes changes, possibly several times.
-- Params: none.
create temp table import_lacking (kind text not null, organization_key integer, key integer not null) on commit drop;
create temp table import_touched_batches (batch_key integer not null) on commit drop;
