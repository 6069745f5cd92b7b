-- edit-and-delete.graphql for authenticated, service_role

-- mutation EditAndDelete
-- $1 = "Getting started with espresso, once more"
-- $2 = "in review"
-- $3 = 998
-- $4 = 1
with i2 as (
  update "public"."posts" t1 set "title" = $1::text, "status" = $2::public.post_status
  where (t1."id" = $3::integer)
  returning t1."title" as c1, t1."status" as c2, t1."updated_at" as c3
)
select case when (select count(*) from i2) > $4::int8 then catalograph.refuse('update impacts too many records')::text::json else to_json((
  select (o.*)::record from (
    select cardinality(w4.a1) as "affectedCount", w4.a1 as "records"
    from (
      select array(
        select (o3.*)::record from i2,
          lateral (
            select i2.c1 as "title",
              case (i2.c2)::text when 'draft' then 'DRAFT' when 'in review' then 'IN_REVIEW' when 'published' then 'PUBLISHED' when 'archived' then 'ARCHIVED' else (i2.c2)::text end as "status",
              i2.c3 as "lastChangedAt"
          ) o3
      ) as a1
      offset 0
    ) w4
  ) o
)) end as r;

-- $1 = 10
with i2 as (delete from "public"."bookmarks" t1 where (t1."note" is null) returning t1."post_id" as c1)
select case when (select count(*) from i2) > $1::int8 then catalograph.refuse('delete impacts too many records')::text::json else to_json((
  select (o.*)::record from (
    select cardinality(w5.a1) as "affectedCount", w5.a1 as "records"
    from (
      select array(
        select (o4.*)::record from i2,
          lateral (
            select (select (o.*)::record from (select t3."title" as "title" from "public"."posts" t3 where t3."id" = i2.c1) o) as "post"
          ) o4
      ) as a1
      offset 0
    ) w5
  ) o
)) end as r;
