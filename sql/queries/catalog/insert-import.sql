-- Records an import that was applied.
-- Params: $1 source, $2 requestedBy, $3 prunes?, $4 lines, $5 added, $6 removed.
insert into sync.catalog_imports (source, requested_by, state, prunes, lines, added, removed)
values ($1, $2, 'applied', $3, $4, $5, $6)
