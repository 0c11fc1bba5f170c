-- Up Migration
-- Single lines are added and removed beside whole lists: an import says whether what it does not name goes.

alter table sync.catalog_imports add column prunes boolean;
comment on column sync.catalog_imports.prunes is 'Whether what its lines do not name became inactive, or is to; null where it was not read, or where single things were added or removed.';
comment on column sync.catalog_imports.source is 'The file, CATALOG_SQL, or what named single lines, such as catalog add.';
comment on column sync.catalog_imports.requested_by is 'Who asked for it: user of the command, schedule, http, or api for a program.';
