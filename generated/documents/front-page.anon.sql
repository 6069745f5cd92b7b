-- front-page.graphql for anon, authenticated, service_role

-- query FrontPage
-- $1 = "published"
select to_json((
  select (o.*)::record from (
    select array(
      select (o8.*)::record from (
        select * from (
          (
            select t2."id" as c1, t2."title" as c2, (t2.*)::"public"."posts" as r, t2."published_at" as c4, t2."author_id" as c5,
              t2."category_id" as c6
            from "public"."posts" t2
            where (t2."status" = $1::public.post_status) and t2."published_at" is distinct from null
            order by t2."published_at" desc, t2."id" limit 5
          ) union all (
            select t2."id" as c1, t2."title" as c2, (t2.*)::"public"."posts" as r, t2."published_at" as c4, t2."author_id" as c5,
              t2."category_id" as c6
            from "public"."posts" t2
            where (t2."status" = $1::public.post_status) and t2."published_at" is not distinct from null
            order by t2."id" limit 5
          )
        ) p3
        order by p3.c4 desc nulls last, p3.c1 limit 5
      ) p3,
        lateral (
          select p3.c1 as "id", p3.c2 as "title", "public"."excerpt"(p3.r) as "excerpt", p3.c4 as "publishedAt",
            "public"."comment_count"(p3.r) as "commentCount",
            (
              select (o.*)::record
              from (select t5."username" as "username", t5."first_name" as "firstName" from "public"."users" t5 where t5."id" = p3.c5) o
            ) as "author",
            (select (o.*)::record from (select t6."name" as "name" from "public"."categories" t6 where t6."id" = p3.c6) o) as "category"
        ) o7,
        lateral (select (o7.*)::record as "node") o8
    ) as "edges"
  ) o
)) as r1;
