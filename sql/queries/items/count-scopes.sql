-- How many scopes items/plan-scopes would plan.
-- Params: $1 operations, $2 organizationIds?, $3 documentId?, $4 annotationId?, $5 userGroupIds?, $6 areUsersNamed, $7 failedOf?,
-- $8 isFailing, $9 areWhole.
-- Never null: scopes.
select count(*) as scopes from sync.scopes_of($1, $2, $3, $4, $5, $6, $7, $8, $9)
