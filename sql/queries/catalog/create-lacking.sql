-- What an import lacks; private to its transaction.
-- Params: none.
create temp table import_lacking (kind text not null, organization_key integer, key integer not null) on commit drop
