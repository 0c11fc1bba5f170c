-- Puts the pseudonym in the place of a user's id in what runs were narrowed to.
-- Params: $1 organization id or null for all, $2 user id, $3 pseudonym.
update sync.runs
set scope = jsonb_set(scope, '{userIds}',
  (select jsonb_agg(case when e.id = $2 then $3 else e.id end order by e.place)
  from jsonb_array_elements_text(scope -> 'userIds') with ordinality e (id, place)))
where scope -> 'userIds' ? $2 and ($1::text is null or scope -> 'organizationIds' ? $1)
