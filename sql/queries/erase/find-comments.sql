-- Comments that may speak of a person, deleted ones too, with their batch; and those whose words hold a name of theirs. A
-- regular expression costs more than all the rest, so it is asked last, of what holds the id, or a character that every
-- address or encoding has. A run beside the erasure may have emptied a comment of the person already, and kept a version with
-- the words: that has the pseudonym as its author, or none where the author came with an address alone. Whether it has
-- anything else decides erase-comments.ts.
-- Params: $1 organizationKeys, $2 userId?, $3 patterns (of the id and the addresses), $4 emails (every stored form), $5 namesLike
-- (patterns of like), $6 namesPattern?, $7 pseudonym, $8 registeredAt.
-- Never null: hit, units.
select f.annotation_key, f.comment_id, f.hit, f.named, f.units, a.batch_key
from (
  select c.annotation_key, c.comment_id, length(c.words) as units,
    coalesce(true in (/* people of a comment: c.{person}_user_id in ($2, $7) */ c.author_user_id in ($2, $7) /* end */), false)
      or coalesce(true in (/* people of a comment: lower(c.{person}_email) = any($4) */
        lower(c.author_email) = any($4) /* end */), false)
      or (c.addresses ~ '[ <%\\]' or octet_length(c.addresses) > char_length(c.addresses)) and c.addresses ~* any($3)
      or (coalesce(position($2 in c.words) > 0, false) or c.words ~ '[@＠﹫\\]|%[0-9a-fA-F]{2}|hmac:') and c.words ~* any($3)
      or num_nonnulls(/* comment columns of the author: c.{column} */ c.comment_text, c.comment_html, c.author_user_id,
        c.author_name, c.author_email /* end */) = 0
        and exists (select from collab_store.comment_versions v
          where v.annotation_key = c.annotation_key and v.comment_id = c.comment_id and v.valid_to >= $8) as hit,
    c.words like any($5) and concat_ws(E'\n', /* comment words: c.{column} */ c.comment_text, c.comment_html /* end */) ~ $6 as named
  from (
    select *, concat_ws(E'\n', /* comment columns but times and addresses: {column}::text */ comment_text::text,
      comment_html::text, author_user_id::text, author_name::text, status::text, type::text, rest::text /* end */) as words,
      concat_ws(E'\n', /* people of a comment: {person}_email */ author_email /* end */) as addresses
    from collab_store.comments
    where organization_key = any($1)
    offset 0 -- so that each is put together once
  ) c
  offset 0
) f
join collab_store.annotations a using (annotation_key)
where f.hit or f.named
order by a.batch_key, f.annotation_key, f.comment_id
