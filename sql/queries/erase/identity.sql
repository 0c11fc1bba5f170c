-- The names and e-mail addresses that are stored of a person, known by the user id or by an address.
-- Params: $1 organizationKeys, $2 userId?, $3 emails (every stored form).
-- Never null: names, names[], emails, emails[].
select coalesce(array_agg(distinct t.name) filter (where t.name <> ''), '{}') as names,
  coalesce(array_agg(distinct t.email) filter (where t.email <> ''), '{}') as emails
from (
  select u.name, u.email, u.rest
  from collab_store.users u
  where u.organization_key = any($1) and (u.user_id = $2 or lower(u.email) = any($3))
  union all
  select v.name, v.email, null
  from collab_store.user_versions v
  where v.organization_key = any($1) and (v.user_id = $2 or lower(v.email) = any($3))
  union all
  select p.name, p.email, c.rest -> p.member
  from collab_store.comments c
  cross join lateral (values /* people of a comment: (c.{person}_user_id, c.{person}_name, c.{person}_email, '{member}') */
    (c.author_user_id, c.author_name, c.author_email, 'from') /* end */)
    p (user_id, name, email, member)
  where c.organization_key = any($1)
    -- Before the people of a comment are rows: that takes six times as long. Without addresses, an index finds the user id.
    and true in (/* people of a comment: c.{person}_user_id = $2 or cardinality($3) > 0 and lower(c.{person}_email) = any($3) */
      c.author_user_id = $2 or cardinality($3) > 0 and lower(c.author_email) = any($3) /* end */)
    and (p.user_id = $2 or lower(p.email) = any($3))
) known
cross join lateral (
  select known.name, case when $2::text is not null then known.email end
  union all
  select m.value #>> '{}', null from jsonb_each(case jsonb_typeof(known.rest) when 'object' then known.rest end) m
  where jsonb_typeof(m.value) = 'string' and m.key ~* 'name$'
  union all
  select null, m.value #>> '{}' from jsonb_each(case jsonb_typeof(known.rest) when 'object' then known.rest end) m
  where $2::text is not null and jsonb_typeof(m.value) = 'string' and m.key ~* 'e[-_]?mail([-_]?address)?$' and m.value #>> '{}' like '%@%'
) t (name, email)
