-- Records an import that was applied.
-- Params: $1 source, $2 requestedBy, $3 prunes?, $4 lines, $5 came, $6 went.
insert into sync.catalog_imports (source, requested_by, state, prunes, lines, came, went)
values ($1, $2, 'applied', $3, $4, $5, $6)
