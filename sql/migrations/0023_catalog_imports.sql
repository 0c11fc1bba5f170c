-- Up Migration
-- Each import of the catalog is a row, and one that lacks too much of what there is waits for a person: a file that was cut
-- off looks like a wish to ask for nothing any more.

create table sync.catalog_imports (
  import_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  source text not null,
  requested_by text not null,
  state text not null check (state in ('applied', 'held', 'accepted', 'refused', 'replaced', 'failed')),
  lines bigint,
  came integer not null default 0,
  went integer not null default 0,
  scopes integer,
  lacking integer,
  organizations integer,
  first_organization_id text,
  lacking_digest text,
  problem text,
  decided_at timestamptz,
  decided_by text,
  reason text
);
create unique index catalog_imports_held on sync.catalog_imports (state) where state = 'held';
create index catalog_imports_last_seen on sync.catalog_imports (last_seen_at);
comment on table sync.catalog_imports is 'Imports of the catalog: who, when, how many scopes came and went. One that is held has changed nothing.';
comment on column sync.catalog_imports.import_id is 'Our id of the row.';
comment on column sync.catalog_imports.at is 'When it was made first (our clock).';
comment on column sync.catalog_imports.last_seen_at is 'When an import last lacked just the same, or failed just the same (our clock).';
comment on column sync.catalog_imports.source is 'The file, or CATALOG_SQL.';
comment on column sync.catalog_imports.requested_by is 'Who asked for it: user of the command, or schedule.';
comment on column sync.catalog_imports.state is 'applied: the catalog is as it says. held: it lacks so much that nothing was changed, and a person decides. accepted, refused: somebody decided. replaced: a later import took its place. failed: CATALOG_SQL could not be read.';
comment on column sync.catalog_imports.lines is 'Lines, or rows, that were read; null where that failed.';
comment on column sync.catalog_imports.came is 'Scopes that were added or became active again: organizations, documents, annotations, user groups.';
comment on column sync.catalog_imports.went is 'Scopes that became inactive.';
comment on column sync.catalog_imports.scopes is 'Of a held one: active scopes of the catalog.';
comment on column sync.catalog_imports.lacking is 'Of a held one: how many of them it lacks.';
comment on column sync.catalog_imports.organizations is 'Of a held one: organizations of which it lacks more than a tenth, and more than ten scopes.';
comment on column sync.catalog_imports.first_organization_id is 'The one of them that lacks most.';
comment on column sync.catalog_imports.lacking_digest is 'Tells what it lacks from what another one lacks.';
comment on column sync.catalog_imports.problem is 'Of a failed one: why.';
comment on column sync.catalog_imports.decided_at is 'When somebody accepted or refused it.';
comment on column sync.catalog_imports.decided_by is 'Who did.';
comment on column sync.catalog_imports.reason is 'Why.';

create table sync.catalog_lacking (
  import_id bigint not null references sync.catalog_imports on delete cascade,
  kind text not null check (kind in ('organization', 'document', 'annotation', 'user_group')),
  keys integer[] not null
);
create index on sync.catalog_lacking (import_id);
comment on table sync.catalog_lacking is 'What a held import of the catalog lacks, until somebody decides; some thousands a row.';
comment on column sync.catalog_lacking.import_id is 'Of which import.';
comment on column sync.catalog_lacking.kind is 'What kind of scopes.';
comment on column sync.catalog_lacking.keys is 'Our keys of them.';
