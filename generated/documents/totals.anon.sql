-- totals.graphql for anon, authenticated, service_role

-- query Totals
-- $1 = "4.90"
select to_json((
  select (o.*)::record from (
    select u2.n as "totalCount", (o8.*)::record as "aggregate"
    from (
      select count(*) as n, array[to_json(sum(t3."word_count")), to_json(sum(t3."view_count")), to_json(avg(t3."rating"::numeric)),
        to_json(min(t3."published_at")), to_json(max(t3."rating")), to_json(max(t3."title"))] as f
      from "public"."posts" t3
    ) u2,
      lateral (select u2.f[1] as "wordCount", u2.f[2] as "viewCount") o4, lateral (select u2.f[3] as "rating") o5,
      lateral (select u2.f[4] as "publishedAt") o6, lateral (select u2.f[5] as "rating", u2.f[6] as "title") o7,
      lateral (
        select u2.n as "count", (o4.*)::record as "sum", (o5.*)::record as "avg", (o6.*)::record as "min", (o7.*)::record as "max"
      ) o8
  ) o
)) as r1,
  to_json((
    select (o.*)::record from (
      select u18.n as "totalCount",
        array(
          select (o17.*)::record from (
            select * from (
              (
                select t10."title" as c1, t10."rating" as c2, t10."id" as c3 from "public"."posts" t10
                where (t10."rating" >= $1::numeric) and t10."rating" is distinct from null
                order by t10."rating" desc, t10."id" limit 3
              ) union all (
                select t10."title" as c1, t10."rating" as c2, t10."id" as c3 from "public"."posts" t10
                where (t10."rating" >= $1::numeric) and t10."rating" is not distinct from null
                order by t10."id" limit 3
              )
            ) p11
            order by p11.c2 desc nulls last, p11.c3 limit 3
          ) p11,
            lateral (
              select p11.c1 as "title", (p11.c2)::text as "rating",
                (
                  select (o.*)::record from (
                    select u14.n as "totalCount" from (select count(*) as n from "public"."comments" t15 where t15."post_id" = p11.c3) u14
                  ) o
                ) as "commentCollection"
            ) o16,
            lateral (select (o16.*)::record as "node") o17
        ) as "edges"
      from (select count(*) as n from "public"."posts" t19 where (t19."rating" >= $1::numeric)) u18
    ) o
  )) as r2;
