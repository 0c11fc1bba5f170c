-- Notes a rename, for the log of changes too, once the batches concerned are locked. The old id is an alias from now on; where
-- the new one is an alias of the same row, it is renamed back: that alias goes, and those that came after it.
-- Params: $1 kind, $2 organizationKey, $3 parentKey, $4 key, $5 oldId, $6 newId.
-- Never null: noted.
with back as (
  update collab_store.renames r
  set is_alias = false
  where r.kind = $1 and r.key = $4 and r.is_alias
    and r.number >= (
      select b.number from collab_store.renames b where b.kind = $1 and b.key = $4 and b.old_id = $6 and b.is_alias)
  returning r.number
)
insert into collab_store.renames (number, kind, organization_key, parent_key, key, old_id, is_alias)
select nextval(pg_get_serial_sequence('collab_store.changes', 'number')), $1, $2, $3, $4, $5, not exists (select from back)
returning set_config('collab_sync.rename', number::text, true) as noted
