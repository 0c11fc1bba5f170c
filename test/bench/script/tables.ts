/** The tables of the script: the contract's columns and keys, and no index besides. */
export const TABLES = `
  create schema if not exists script;
  create table if not exists script.organizations (organization_id text primary key, checked_at timestamptz not null);
  create table if not exists script.documents (organization_id text, document_id text, checked_at timestamptz not null,
    primary key (organization_id, document_id));
  create table if not exists script.user_groups (organization_id text, organization_user_group_id text,
    checked_at timestamptz not null, primary key (organization_id, organization_user_group_id));
  create table if not exists script.annotations (organization_id text, document_id text, annotation_id text,
    comment_count integer not null, checked_at timestamptz not null,
    primary key (organization_id, document_id, annotation_id));
  create table if not exists script.users (organization_id text, user_id text, name text, email text, raw jsonb,
    listed boolean not null, first_seen_at timestamptz not null default now(),
    changed_at timestamptz not null default now(), removed_at timestamptz, primary key (organization_id, user_id));
  create table if not exists script.document_users (organization_id text, document_id text, user_id text,
    first_seen_at timestamptz not null default now(), removed_at timestamptz,
    primary key (organization_id, document_id, user_id));
  create table if not exists script.user_group_members (organization_id text, organization_user_group_id text,
    user_id text, first_seen_at timestamptz not null default now(), removed_at timestamptz,
    primary key (organization_id, organization_user_group_id, user_id));
  create table if not exists script.comments (organization_id text, document_id text, annotation_id text,
    comment_id bigint, comment_text text, comment_html text, author_user_id text, author_name text, author_email text,
    status text, type text, last_updated timestamptz, raw jsonb, first_seen_at timestamptz not null default now(),
    changed_at timestamptz not null default now(), deleted_at timestamptz,
    primary key (organization_id, document_id, annotation_id, comment_id));`
