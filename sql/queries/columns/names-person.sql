-- Whether one of the names is the id of a person: an object with ids for names has no columns.
-- Params: $1 names.
-- Never null: names_person.
select exists (select from collab_store.users u where u.user_id = any($1)) as names_person
