-- For a database of yours, not for that of collab-sync: whoever changes a row of your table tells `collab-sync hint --listen`
-- which thread changed (docs/HINTS.md). Names your columns for the organization, the document and, if you have it, the
-- annotation, in this order:
--
--   create trigger collab_sync_hint after insert or update or delete on app.comments
--     for each row execute function collab_sync_hint('organization_id', 'document_id', 'annotation_id');
--
-- A row without an organization or a document says nothing. What is the same in one transaction is sent once, when it commits.

create function collab_sync_hint() returns trigger
language plpgsql
as $$
declare
  rows jsonb[] := case tg_op
    when 'INSERT' then array[to_jsonb(new)]
    when 'DELETE' then array[to_jsonb(old)]
    else array[to_jsonb(old), to_jsonb(new)]
  end;
  changed jsonb;
  hint text;
begin
  foreach changed in array rows loop
    hint := jsonb_build_object(
      'organizationId', changed ->> tg_argv[0],
      'documentId', changed ->> tg_argv[1],
      'annotationId', changed ->> tg_argv[2]);
    -- pg_notify takes less than 8,000 bytes: a longer one would fail your transaction.
    if changed ->> tg_argv[0] <> '' and changed ->> tg_argv[1] <> '' and octet_length(hint) < 8000 then
      perform pg_notify('collab_sync_hints', hint);
    end if;
  end loop;
  return null;
end
$$;
