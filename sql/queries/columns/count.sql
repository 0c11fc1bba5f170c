-- How many stored comments or users have a value in a member, and of how many it does not fit a type.
-- Params: $1 object, $2 member, $3 type, $4 storedIn?.
-- Never null: present, misfits.
select present, misfits from collab_store.count_member($1, $2, $3, $4)
