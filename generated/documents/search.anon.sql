-- search.graphql for anon, authenticated, service_role

-- query Search
-- $1 = $words
-- $2 = 20
select to_json((
  with s1 as materialized (select * from "public"."search_posts"("search" => $1::text) f)
  select (
    select (o.*)::record from (
      select u7.n as "totalCount",
        array(
          select (o6.*)::record from (
            select t2."title" as c1, t2."keywords" as c2 from s1 t2
            where t2."id" is distinct from null order by t2."published_at" desc nulls last, t2."id"
            limit 10
          ) p3,
            lateral (select p3.c1 as "title", p3.c2 as "keywords") o5, lateral (select (o5.*)::record as "node") o6
        ) as "edges"
      from (select count(*) as n from s1 t8 where t8."id" is distinct from null) u7
    ) o
  )
)) as r1,
  to_json("public"."author_count"()) as r2, to_json("public"."author_count"("min_posts" => $2::integer)) as r3;
