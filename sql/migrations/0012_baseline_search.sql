-- Up Migration
-- Search. Words as PostgreSQL's own parser finds them, without a language; scripts that write no spaces (and Korean, whose
-- words carry their particles) are split into single characters, which a search then asks for as a phrase.
-- Not pg_trgm: it has no use for the two characters that most Chinese and Japanese words have.

create function reporting.spaced_text(plain_text text) returns text
language sql immutable parallel safe
return case
  when plain_text ~ '[^\u0001-\u024f]' then regexp_replace(translate(plain_text,
    '،؛؟।。、，！？：；（）「」『』《》„“”‘’«»–—…', '                              '),
    '([\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])',
    ' \1 ', 'g')
  else plain_text end;
comment on function reporting.spaced_text(text) is 'The text with a space around every character of the scripts that write none between words, and none of the punctuation that PostgreSQL takes for letters in some locales.';

-- A tsvector holds at most 1 MB of words (PostgreSQL documentation, Limitations of text search): with one longer text every
-- search would fail, and the index could not be made. Words of 100,000 characters stay below it, whatever they are.
create function reporting.comment_words(comment_text text) returns tsvector
language sql immutable parallel safe
return to_tsvector('simple', reporting.spaced_text(left(comment_text, 100000)));
comment on function reporting.comment_words(text) is 'The searchable words of the first 100,000 characters of a text: lower case, no stemming; characters one by one in scripts without spaces. The search index is made of it.';

create function reporting.search_query(query text) returns tsquery
language sql immutable parallel safe
return case
  when query ~ '"' then websearch_to_tsquery('simple', reporting.spaced_text(query))
  else regexp_replace(websearch_to_tsquery('simple', reporting.spaced_text(regexp_replace(query,
      '([\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)',
      ' "\1" ', 'g')))::text,
    '([^0-9''])''(?= |\)|$)', '\1'':*', 'g')::tsquery -- a number means itself: 3 does not find 30
  end;
comment on function reporting.search_query(text) is 'What search_comments looks for: every word, also as the beginning of a longer one; "in quotes" exactly and in this order; -without; this or that.';

create type reporting.found_comment as (
  rank real, organization_id text, document_id text, annotation_id text, comment_id bigint, author_user_id text,
  author_name text, comment_text text, last_updated timestamptz
);
comment on type reporting.found_comment is 'One row of reporting.search_comments().';
comment on column reporting.found_comment.rank is 'How well the text fits, from 0: more and closer words of the query in a shorter text rank higher.';
comment on column reporting.found_comment.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.found_comment.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.found_comment.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.found_comment.comment_id is 'commentId of the service, unique within its annotation.';
comment on column reporting.found_comment.author_user_id is 'userId of the author.';
comment on column reporting.found_comment.author_name is 'The author''s current name.';
comment on column reporting.found_comment.comment_text is 'Plain text of the comment.';
comment on column reporting.found_comment.last_updated is 'lastUpdated of the service (the service''s clock).';

-- No index on words can serve a query below a policy: the operator might tell what it compares. So the search goes round
-- the policies, with the rights of the owner, and asks itself who calls: a plan of its own for every search, because how
-- to search one organization is another matter than how to search all.
-- Of single organizations the comments are gathered before anything is compared with what the caller gave: neither the
-- index on words nor that on organizations may be asked about others. `offset 0` keeps conditions out of a sub-select.
create function reporting.search_comments(query text, organization_id text default null, max_results integer default 100)
returns setof reporting.found_comment
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  -- In a function with its owner's rights current_user is the owner.
  caller constant name := coalesce(nullif(current_setting('role', true), 'none'), session_user);
  sees_every constant boolean := collab_store.sees_every_organization(caller);
  granted constant integer[] := array(
    select g.organization_key
    from (
      select o.organization_key, o.organization_id
      from collab_store.organization_grants g
      join collab_store.organizations o using (organization_key)
      where pg_has_role(caller, to_regrole(quote_ident(g.role_name))::oid, 'usage')
      offset 0
    ) g
    where $2 is null or g.organization_id = $2);
  -- Texts without the characters of a word that they must hold are not split into words: that is most of the time.
  needed constant text[] := case when reporting.search_query($1)::text ~ '[|!]' then '{}' else array(
    select '%' || m[1] || '%'
    from regexp_matches(reporting.search_query($1)::text, '''([a-z0-9\u0e00-\U0003ffff]+)''', 'g') m) end;
begin
  if not has_table_privilege(caller, 'reporting.comments', 'select') then
    raise insufficient_privilege using message = 'permission denied for view reporting.comments';
  end if;
  if sees_every then
    return query
    select ts_rank(reporting.comment_words(f.comment_text), reporting.search_query($1), 1) as rank, f.organization_id, f.document_id,
      f.annotation_id, f.comment_id, f.author_user_id, f.author_name, f.comment_text, f.last_updated
    from (
      select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.author_user_id,
        coalesce(u.name, c.author_name) as author_name, c.comment_text, c.last_updated
      from collab_store.comments c
      join collab_store.annotations a using (annotation_key)
      join collab_store.documents d using (document_key)
      join collab_store.organizations o on o.organization_key = d.organization_key
      left join collab_store.users u on u.organization_key = d.organization_key and u.user_id = c.author_user_id
      where c.deleted_at is null and reporting.comment_words(c.comment_text) @@ reporting.search_query($1)
        and ($2 is null or o.organization_id = $2)
      limit 2000 -- ranking reads every text again: of a word that common any two thousand are ranked
    ) f
    order by 1 desc, f.last_updated desc nulls last, f.organization_id, f.document_id, f.annotation_id, f.comment_id
    limit $3;
  else
    return query
    select ts_rank(reporting.comment_words(f.comment_text), reporting.search_query($1), 1) as rank, f.organization_id, f.document_id,
      f.annotation_id, f.comment_id, f.author_user_id, f.author_name, f.comment_text, f.last_updated
    from (
      select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.author_user_id,
        coalesce(u.name, c.author_name) as author_name, c.comment_text, c.last_updated
      from (
        select own.*
        from (
          select c.* from collab_store.comments c
          where c.organization_key = any(granted) and c.deleted_at is null
            and coalesce(lower(c.comment_text) like all (needed), needed = '{}')
          offset 0
        ) own
        -- Estimated as half of them, where the bare condition is taken for one row and the joins for nothing.
        where coalesce(reporting.comment_words(own.comment_text) @@ reporting.search_query($1), false)
        limit 2000
      ) c
      join collab_store.annotations a using (annotation_key)
      join collab_store.documents d using (document_key)
      join collab_store.organizations o on o.organization_key = d.organization_key
      left join collab_store.users u on u.organization_key = d.organization_key and u.user_id = c.author_user_id
    ) f
    order by 1 desc, f.last_updated desc nulls last, f.organization_id, f.document_id, f.annotation_id, f.comment_id
    limit $3;
  end if;
end
$$;
comment on function reporting.search_comments(text, text, integer) is 'Live comments that hold the words, best first, in any language and script: all organizations or one, at most max_results. Words also match as the beginning of a longer one; "in quotes" exactly; -without; this or that. Of more than 2,000 matches any 2,000 are ranked. In one organization of some 10,000 comments that takes 0.3 s; to search millions make the index first, which makes each new comment dearer: collab-sync migrate --search-index on, which is: create index concurrently comments_words on collab_store.comments using gin (reporting.comment_words(comment_text)).';
