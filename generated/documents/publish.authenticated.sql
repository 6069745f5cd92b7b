-- publish.graphql for authenticated, service_role

-- mutation Publish
-- $1 = $id
select to_json((
  select (o.*)::record from (
    select t1."title" as "title",
      case (t1."status")::text when 'draft' then 'DRAFT' when 'in review' then 'IN_REVIEW' when 'published' then 'PUBLISHED' when 'archived' then 'ARCHIVED' else (t1."status")::text end as "status",
      t1."published_at" as "publishedAt", t1."updated_at" as "lastChangedAt"
    from "public"."publish_post"("post_id" => $1::integer) t1
    where not ((t1.*)::"public"."posts" is null)
  ) o
)) as r;

-- $1 = $id
-- $2 = "Out at last."
with i2 as (
  insert into "public"."comments" as t1 ("post_id", "body") values ($1::integer, $2::text) returning t1."id" as c1, t1."created_at" as c2
)
select coalesce(
  to_json((
    select (o.*)::record from (select array[(o3.*)::record] as "records" from i2, lateral (select i2.c1 as "id", i2.c2 as "createdAt") o3) o
  )),
  '{"records":[]}'::json
) as r;

-- $1 = $id
with i2 as (insert into "public"."likes" as t1 ("post_id") values ($1::integer) returning 1)
select coalesce(to_json((select (o.*)::record from (select 1 as "affectedCount" from i2) o)), '{"affectedCount":0}'::json) as r;
