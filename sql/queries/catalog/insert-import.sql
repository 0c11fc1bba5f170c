-- Notes an import that was applied.
-- Params: $1 source, $2 requestedBy, $3 lines, $4 came, $5 went.
insert into sync.catalog_imports (source, requested_by, state, lines, came, went) values ($1, $2, 'applied', $3, $4, $5)
