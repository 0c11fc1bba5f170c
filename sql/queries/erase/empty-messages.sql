-- Empties messages that name a person: of failures, of runs, and the samples of undocumented errors.
-- Params: $1 organization id or null for all, $2 texts that tell the person.
with of_failures as (
  update sync.failures f set error_message = 'erased: it named a person'
  where ($1::text is null or f.organization_id = $1)
    and exists (select from unnest($2::text[]) t (part) where position(t.part in f.error_message) > 0)
  returning 1
), of_runs as (
  update sync.runs r set problem = 'erased: it named a person'
  where exists (select from unnest($2::text[]) t (part) where position(t.part in r.problem) > 0)
  returning 1
), of_samples as (
  update sync.observed_errors e set sample = 'erased: it named a person'
  where exists (select from unnest($2::text[]) t (part) where position(t.part in e.sample) > 0)
  returning 1
)
select (select count(*) from of_failures) + (select count(*) from of_runs) + (select count(*) from of_samples) as messages
