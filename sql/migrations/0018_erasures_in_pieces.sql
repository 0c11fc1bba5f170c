-- Up Migration
-- An erasure is registered first, so that everything read from then on is redacted, and then rewrites what is stored piece
-- by piece while runs go on. Until it has ended its row says so, and holds what to look for.

alter table sync.erasures
  add column name_hashes text[] not null default '{}',
  add column identity jsonb,
  add column finished_at timestamptz;
alter table sync.erasures alter column identity set statistics 0; -- the planner keeps no samples of it
update sync.erasures set finished_at = erased_at;
comment on table sync.erasures is 'Proof of every erasure, without the person: what was emptied, when, why and by whom. It also keeps later syncs from bringing the person back: do not delete its rows.';
comment on column sync.erasures.erased_at is 'When it was registered: what workers read from then on is redacted before it is compared or stored.';
comment on column sync.erasures.finished_at is 'When everything stored before was rewritten; null while that is under way, or where it was interrupted: erase again, which goes on.';
comment on column sync.erasures.identity is 'The user id, names and e-mail addresses that are still being looked for; null once finished_at is set.';
comment on column sync.erasures.name_hashes is 'Salted hashes of the names that were known of the person: they tell a name beside an id or address of theirs.';
comment on column sync.erasures.pseudonym is 'What now stands for the user id, or for the address where there is none: a salted hash of it.';
comment on column sync.erasures.email_hashes is 'Salted hashes of the e-mail addresses that were known of the person: they tell these in whatever the service says.';
comment on column sync.erasures.users is 'Rows of collab.users that were the person and were emptied: one an organization.';
comment on column sync.erasures.comment_versions is 'Earlier versions of comments that were emptied, or in which an id or address was replaced.';
comment on column sync.erasures.mentions_in_records is 'Records of others in which an id, address or name of the person was replaced.';
comment on column sync.erasures.rejected_records is 'Rows of sync.rejected_records in which the person was replaced.';
comment on column sync.erasures.messages is 'Further rows, of failures, observed errors, notifications and the queue say, in which an id or address was replaced.';
comment on column sync.erasures.scopes is 'Runs in whose scope or problem an id or address was replaced.';
comment on column sync.erasures.mentions_left is 'Comments of others whose words hold a name of the person, or of somebody called the same: these are other people''s words and were left.';
