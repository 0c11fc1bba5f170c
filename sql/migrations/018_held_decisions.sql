-- Up Migration
-- People decide about held listings: one is accepted, or refused, by whom and why. A refusal stands while the answer stays the
-- same: the listing is not held for it again.
alter table sync.held
  add column decided_by text,
  add column reason text,
  add column is_standing boolean not null default false,
  drop constraint held_resolution_check,
  add constraint held_resolution_check check (resolution in ('accepted', 'refused', 'repeated', 'recovered'));
create index refused_listings on sync.held (kind, scope_key) where is_standing;
comment on table sync.held is 'Listings that suddenly lacked so many of their users that nobody was removed: a person decides, or the same answer in as many nightly runs as HELD_ACCEPT_AFTER says.';
comment on column sync.held.resolution is 'accepted or refused (by a person), repeated (the same answer as often as HELD_ACCEPT_AFTER says), or recovered (a later answer did not lack them).';
comment on column sync.held.decided_by is 'Who accepted or refused it: the user of the machine; http or api for a program.';
comment on column sync.held.reason is 'Why, in the words of whoever did it.';
comment on column sync.held.is_standing is 'True for a refusal while the answer stays the same: it is not asked about again.';
comment on index sync.refused_listings is 'Refusals that stand, by listing.';
