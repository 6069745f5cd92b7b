-- write-post.graphql for authenticated, service_role

-- mutation WritePost with variables such as {"slug":null,"title":null}
-- $1 = null
-- $2 = null
-- $3 = "The first post of many."
-- $4 = ["hello"]
-- $5 = "{\"mood\": \"good\"}"
with i2 as (
  insert into "public"."posts" as t1 ("slug", "title", "body", "keywords", "metadata")
  values ($1::text, $2::text, $3::text, $4::text[], $5::jsonb)
  returning t1."id" as c1, t1."status" as c2, t1."word_count" as c3, t1."author_id" as c4
)
select coalesce(
  to_json((
    select (o.*)::record from (
      select 1 as "affectedCount", array[(o4.*)::record] as "records"
      from i2,
        lateral (
          select i2.c1 as "id",
            case (i2.c2)::text when 'draft' then 'DRAFT' when 'in review' then 'IN_REVIEW' when 'published' then 'PUBLISHED' when 'archived' then 'ARCHIVED' else (i2.c2)::text end as "status",
            i2.c3 as "wordCount",
            (
              select (o.*)::record
              from (select "public"."full_name"((t3.*)::"public"."users") as "fullName" from "public"."users" t3 where t3."id" = i2.c4) o
            ) as "author"
        ) o4
    ) o
  )),
  '{"affectedCount":0,"records":[]}'::json
) as r;

-- mutation WritePost with variables such as {"slug":null}
-- $1 = null
-- $2 = $title
-- $3 = "The first post of many."
-- $4 = ["hello"]
-- $5 = "{\"mood\": \"good\"}"
with i2 as (
  insert into "public"."posts" as t1 ("slug", "title", "body", "keywords", "metadata")
  values ($1::text, $2::text, $3::text, $4::text[], $5::jsonb)
  returning t1."id" as c1, t1."status" as c2, t1."word_count" as c3, t1."author_id" as c4
)
select coalesce(
  to_json((
    select (o.*)::record from (
      select 1 as "affectedCount", array[(o4.*)::record] as "records"
      from i2,
        lateral (
          select i2.c1 as "id",
            case (i2.c2)::text when 'draft' then 'DRAFT' when 'in review' then 'IN_REVIEW' when 'published' then 'PUBLISHED' when 'archived' then 'ARCHIVED' else (i2.c2)::text end as "status",
            i2.c3 as "wordCount",
            (
              select (o.*)::record
              from (select "public"."full_name"((t3.*)::"public"."users") as "fullName" from "public"."users" t3 where t3."id" = i2.c4) o
            ) as "author"
        ) o4
    ) o
  )),
  '{"affectedCount":0,"records":[]}'::json
) as r;

-- mutation WritePost with variables such as {"title":null}
-- $1 = $slug
-- $2 = null
-- $3 = "The first post of many."
-- $4 = ["hello"]
-- $5 = "{\"mood\": \"good\"}"
with i2 as (
  insert into "public"."posts" as t1 ("slug", "title", "body", "keywords", "metadata")
  values ($1::text, $2::text, $3::text, $4::text[], $5::jsonb)
  returning t1."id" as c1, t1."status" as c2, t1."word_count" as c3, t1."author_id" as c4
)
select coalesce(
  to_json((
    select (o.*)::record from (
      select 1 as "affectedCount", array[(o4.*)::record] as "records"
      from i2,
        lateral (
          select i2.c1 as "id",
            case (i2.c2)::text when 'draft' then 'DRAFT' when 'in review' then 'IN_REVIEW' when 'published' then 'PUBLISHED' when 'archived' then 'ARCHIVED' else (i2.c2)::text end as "status",
            i2.c3 as "wordCount",
            (
              select (o.*)::record
              from (select "public"."full_name"((t3.*)::"public"."users") as "fullName" from "public"."users" t3 where t3."id" = i2.c4) o
            ) as "author"
        ) o4
    ) o
  )),
  '{"affectedCount":0,"records":[]}'::json
) as r;

-- mutation WritePost with variables such as {}
-- $1 = $slug
-- $2 = $title
-- $3 = "The first post of many."
-- $4 = ["hello"]
-- $5 = "{\"mood\": \"good\"}"
with i2 as (
  insert into "public"."posts" as t1 ("slug", "title", "body", "keywords", "metadata")
  values ($1::text, $2::text, $3::text, $4::text[], $5::jsonb)
  returning t1."id" as c1, t1."status" as c2, t1."word_count" as c3, t1."author_id" as c4
)
select coalesce(
  to_json((
    select (o.*)::record from (
      select 1 as "affectedCount", array[(o4.*)::record] as "records"
      from i2,
        lateral (
          select i2.c1 as "id",
            case (i2.c2)::text when 'draft' then 'DRAFT' when 'in review' then 'IN_REVIEW' when 'published' then 'PUBLISHED' when 'archived' then 'ARCHIVED' else (i2.c2)::text end as "status",
            i2.c3 as "wordCount",
            (
              select (o.*)::record
              from (select "public"."full_name"((t3.*)::"public"."users") as "fullName" from "public"."users" t3 where t3."id" = i2.c4) o
            ) as "author"
        ) o4
    ) o
  )),
  '{"affectedCount":0,"records":[]}'::json
) as r;
