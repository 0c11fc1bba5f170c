-- Open problems by kind, most urgent first.
-- Params: none.
-- Never null: kind, urgency, count, organizations, sentence, fix, path.
select kind, urgency, count, organizations, since, latest, sentence, fix, path, words, first
from sync.attention_by_kind
order by array_position('{high,medium,low}'::text[], urgency), kind <> 'no_worker', since, kind
