-- Threads of a sample of documents, with the times of their changes as comments and versions tell them, in seconds since a
-- moment: what a forecast is made of. Documents are chosen, and sorted, by a hash of their key: the first rows are a sample too.
-- Params: $1 share (of the documents), $2 since, $3 fromS (no changes before that), $4 limit.
-- Never null: times, times[].
select array(
    select extract(epoch from t.at - $2::timestamptz)::float8
    from (
      select collab_store.written_at(c.written_at, c.first_updated, c.last_updated) as at
      from collab_store.comments c where c.annotation_key = a.annotation_key
      union all
      select c.last_updated from collab_store.comments c
      where c.annotation_key = a.annotation_key and c.version > 1 and c.change <> 'deleted' and c.last_updated > c.first_updated
      union all
      select v.last_updated from collab_store.comment_versions v
      where v.annotation_key = a.annotation_key and v.version > 1 and v.change <> 'deleted'
    ) t
    where t.at between $2::timestamptz + make_interval(secs => $3) and now()
    order by t.at
  ) as times,
  extract(epoch from (
    select min(collab_store.written_at(c.written_at, c.first_updated, c.last_updated))
    from collab_store.comments c where c.annotation_key = a.annotation_key
  ) - $2::timestamptz)::float8 as first_s
from collab_store.documents d
join collab_store.organizations o using (organization_key)
join collab_store.annotations a using (document_key)
where o.active and a.active and (hashint4(d.document_key) & 1048575) < $1::float8 * 1048576
order by hashint4(d.document_key) & 1048575, d.document_key, a.annotation_key
limit $4
