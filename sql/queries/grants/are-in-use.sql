-- Whether single organizations were ever granted: from then on the policies are on.
-- Params: none.
-- Never null: are_in_use.
select coalesce((select c.relrowsecurity from pg_class c where c.oid = to_regclass('collab_store.organizations')), false)
  as are_in_use
