-- Records a migration, in the transaction that applies it.
-- Params: $1 name, $2 checksum, $3 worksWith?, $4 version.
insert into collab_sync.migrations (name, checksum, works_with, version) values ($1, $2, $3, $4)
