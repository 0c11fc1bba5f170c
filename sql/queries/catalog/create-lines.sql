-- Creates a temporary table for the lines of one import.
-- Params: none.
create temp table import_lines (
  organization_id text not null,
  document_id text,
  annotation_id text,
  organization_user_group_id text,
  organization_name text,
  document_name text,
  organization_user_group_name text,
  line integer generated always as identity
);
