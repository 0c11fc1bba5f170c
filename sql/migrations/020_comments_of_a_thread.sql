-- Sets the number of threads that the planner assumes. The estimate from a sample was 21 times too low with 14,000,000
-- comments, and a query that joined threads to their comments read all comments of an organization for each thread.
-- A negative number is a share of the rows: here, five comments per thread.
alter table collab_store.comments alter column annotation_key set (n_distinct = -0.2);
analyze collab_store.comments (annotation_key);
