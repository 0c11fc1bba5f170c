-- The fields without a column of the comments with the newest last_updated. Fields that are large even when compressed
-- are null.
-- Params: $1 limit.
-- Never null: last_updated.
select last_updated, case when pg_column_size(rest) < 10000 then rest::text end as rest
from collab_store.comments
where last_updated is not null
order by last_updated desc
limit $1
