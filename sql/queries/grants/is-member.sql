-- Whether a role was itself made a member of another one.
-- Params: $1 role, $2 otherRole.
-- Never null: is_member.
select exists (
  select from pg_auth_members m where m.member = to_regrole(quote_ident($1)) and m.roleid = to_regrole(quote_ident($2))
) as is_member
