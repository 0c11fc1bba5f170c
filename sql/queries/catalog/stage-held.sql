-- Stages the scopes that a held import lacks.
-- Params: $1 importId.
insert into import_lacking (kind, key)
select l.kind, k from sync.catalog_lacking l cross join unnest(l.keys) k where l.import_id = $1
