-- Batches whose number of active scopes this import changes; may name one several times.
-- Params: none.
create temp table import_touched_batches (batch_key integer not null) on commit drop;
