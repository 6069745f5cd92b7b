-- my-desk.graphql for authenticated, service_role

-- query MyDesk
-- $1 = ["draft", "in review"]
select to_json((
  select (o.*)::record from (
    select u9.n as "totalCount",
      array(
        select (o8.*)::record from (
          select t2."id" as c1, t2."title" as c2, t2."status" as c3, t2."author_id" as c4, t2."editor_id" as c5
          from "public"."posts" t2 where (t2."status" = any ($1::public.post_status[]))
          order by t2."created_at" desc, t2."id" limit 30
        ) p3,
          lateral (
            select p3.c1 as "id", p3.c2 as "title",
              case (p3.c3)::text when 'draft' then 'DRAFT' when 'in review' then 'IN_REVIEW' when 'published' then 'PUBLISHED' when 'archived' then 'ARCHIVED' else (p3.c3)::text end as "status",
              (
                select (o.*)::record
                from (select "public"."full_name"((t5.*)::"public"."users") as "fullName" from "public"."users" t5 where t5."id" = p3.c4) o
              ) as "author",
              (
                select (o.*)::record
                from (select "public"."full_name"((t6.*)::"public"."users") as "fullName" from "public"."users" t6 where t6."id" = p3.c5) o
              ) as "editor"
          ) o7,
          lateral (select (o7.*)::record as "node") o8
      ) as "edges"
    from (select count(*) as n from "public"."posts" t10 where (t10."status" = any ($1::public.post_status[]))) u9
  ) o
)) as r1,
  to_json((
    select (o.*)::record from (
      select array(
        select (o17.*)::record from (
          select t12."note" as c1, t12."post_id" as c2 from "public"."bookmarks" t12
          order by t12."created_at" desc, t12."user_id", t12."post_id" limit 30
        ) p13,
          lateral (
            select p13.c1 as "note",
              (select (o.*)::record from (select t15."title" as "title" from "public"."posts" t15 where t15."id" = p13.c2) o) as "post"
          ) o16,
          lateral (select (o16.*)::record as "node") o17
      ) as "edges"
    ) o
  )) as r2;
