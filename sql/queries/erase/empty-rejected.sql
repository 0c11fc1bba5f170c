-- Empties rejected records in which a person appears; the rows stay, and with them the counts.
-- Params: $1 organization id or null for all, $2 texts that tell the person inside of JSON.
update sync.rejected_records r
set record = '{}', reason = 'erased: a person appeared in it'
where ($1::text is null or r.organization_id = $1)
  and exists (select from unnest($2::text[]) t (part) where position(t.part in r.record) > 0 or position(t.part in r.reason) > 0)
