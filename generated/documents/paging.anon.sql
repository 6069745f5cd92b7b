-- paging.graphql for anon, authenticated, service_role

-- query Paging with variables such as {"size":0}
select to_json((
  select (o.*)::record from (
    select '[]'::json as "edges", (o5.*)::record as "pageInfo"
    from (
      select count(*) as n from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null order by t2."rating" desc, t2."title", t2."id"
            limit 1
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id" limit 1
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit 1
      ) p3
    ) w4,
      lateral (select w4.n > 0 as "hasNextPage", false as "hasPreviousPage", null::text as "startCursor", null::text as "endCursor") o5
  ) o
)) as r1;

-- query Paging with variables such as {"size":0,"after":"WzFd"}
-- $1 = cursor of $after
select to_json((
  select (o.*)::record from (
    select '[]'::json as "edges", (o5.*)::record as "pageInfo"
    from (
      select count(*) as n from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null and ((t2."rating") < ($1::numeric))
            order by t2."rating" desc, t2."title", t2."id" limit 1
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id" limit 1
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit 1
      ) p3
    ) w4,
      lateral (select w4.n > 0 as "hasNextPage", false as "hasPreviousPage", null::text as "startCursor", null::text as "endCursor") o5
  ) o
)) as r1;

-- query Paging with variables such as {"size":0,"after":"WzEsMV0="}
-- $1 = cursor of $after
-- $2 = cursor of $after
select to_json((
  select (o.*)::record from (
    select '[]'::json as "edges", (o5.*)::record as "pageInfo"
    from (
      select count(*) as n from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null and (t2."rating" <= $1::numeric and (t2."rating" < $1::numeric or (t2."rating" = $1::numeric and (t2."title" > $2::text))))
            order by t2."rating" desc, t2."title", t2."id" limit 1
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id" limit 1
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit 1
      ) p3
    ) w4,
      lateral (select w4.n > 0 as "hasNextPage", false as "hasPreviousPage", null::text as "startCursor", null::text as "endCursor") o5
  ) o
)) as r1;

-- query Paging with variables such as {"size":0,"after":"WzEsMSwxXQ=="}
-- $1 = cursor of $after
-- $2 = cursor of $after
-- $3 = cursor of $after
select to_json((
  select (o.*)::record from (
    select '[]'::json as "edges", (o5.*)::record as "pageInfo"
    from (
      select count(*) as n from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null and (t2."rating" <= $1::numeric and (t2."rating" < $1::numeric or (t2."rating" = $1::numeric and (t2."title" >= $2::text and (t2."title" > $2::text or (t2."title" = $2::text and (t2."id" > $3::integer)))))))
            order by t2."rating" desc, t2."title", t2."id" limit 1
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id" limit 1
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit 1
      ) p3
    ) w4,
      lateral (select w4.n > 0 as "hasNextPage", false as "hasPreviousPage", null::text as "startCursor", null::text as "endCursor") o5
  ) o
)) as r1;

-- query Paging with variables such as {"size":null}
select to_json((
  select (o.*)::record from (
    select w4.a1[1:30] as "edges", (o7.*)::record as "pageInfo"
    from (
      select coalesce(array_agg((o6.*)::record), '{}') as a1, coalesce(array_agg(p3.c1), '{}') as a2,
        coalesce(array_agg(p3.c2), '{}') as a3, coalesce(array_agg(p3.c3), '{}') as a4, count(*) as n
      from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null order by t2."rating" desc, t2."title", t2."id"
            limit 31
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id" limit 31
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit 31
      ) p3,
        lateral (select p3.c2 as "title", (p3.c1)::text as "rating") o5,
        lateral (
          select replace(encode(json_send(json_build_array(p3.c1, p3.c2, p3.c3)), 'base64'), E'\n', '') as "cursor",
            (o5.*)::record as "node"
        ) o6
    ) w4,
      lateral (
        select w4.n > 30 as "hasNextPage", false as "hasPreviousPage",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[1], w4.a3[1], w4.a4[1])), 'base64'), E'\n', ''
          ) end as "startCursor",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[least(w4.n, 30)], w4.a3[least(w4.n, 30)], w4.a4[least(w4.n, 30)])), 'base64'), E'\n', ''
          ) end as "endCursor"
      ) o7
  ) o
)) as r1;

-- query Paging with variables such as {"size":null,"after":"WzFd"}
-- $1 = cursor of $after
select to_json((
  select (o.*)::record from (
    select w4.a1[1:30] as "edges", (o9.*)::record as "pageInfo"
    from (
      select coalesce(array_agg((o6.*)::record), '{}') as a1, coalesce(array_agg(p3.c1), '{}') as a2,
        coalesce(array_agg(p3.c2), '{}') as a3, coalesce(array_agg(p3.c3), '{}') as a4, count(*) as n
      from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null and ((t2."rating") < ($1::numeric))
            order by t2."rating" desc, t2."title", t2."id" limit 31
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id" limit 31
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit 31
      ) p3,
        lateral (select p3.c2 as "title", (p3.c1)::text as "rating") o5,
        lateral (
          select replace(encode(json_send(json_build_array(p3.c1, p3.c2, p3.c3)), 'base64'), E'\n', '') as "cursor",
            (o5.*)::record as "node"
        ) o6
    ) w4,
      lateral (
        select w4.n > 30 as "hasNextPage",
          (
            w4.n > 0 and exists (
              select from (
                select * from (
                  (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is distinct from null order by t7."rating" desc, t7."title", t7."id"
                    limit 1
                  ) union all (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is not distinct from null order by t7."title", t7."id" limit 1
                  )
                ) f8
                order by f8.c2 desc nulls last, f8.c3, f8.c1 limit 1
              ) f8
              where (f8.c1) is distinct from (w4.a4[1])
            )
          ) as "hasPreviousPage",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[1], w4.a3[1], w4.a4[1])), 'base64'), E'\n', ''
          ) end as "startCursor",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[least(w4.n, 30)], w4.a3[least(w4.n, 30)], w4.a4[least(w4.n, 30)])), 'base64'), E'\n', ''
          ) end as "endCursor"
      ) o9
  ) o
)) as r1;

-- query Paging with variables such as {"size":null,"after":"WzEsMV0="}
-- $1 = cursor of $after
-- $2 = cursor of $after
select to_json((
  select (o.*)::record from (
    select w4.a1[1:30] as "edges", (o9.*)::record as "pageInfo"
    from (
      select coalesce(array_agg((o6.*)::record), '{}') as a1, coalesce(array_agg(p3.c1), '{}') as a2,
        coalesce(array_agg(p3.c2), '{}') as a3, coalesce(array_agg(p3.c3), '{}') as a4, count(*) as n
      from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null and (t2."rating" <= $1::numeric and (t2."rating" < $1::numeric or (t2."rating" = $1::numeric and (t2."title" > $2::text))))
            order by t2."rating" desc, t2."title", t2."id" limit 31
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id" limit 31
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit 31
      ) p3,
        lateral (select p3.c2 as "title", (p3.c1)::text as "rating") o5,
        lateral (
          select replace(encode(json_send(json_build_array(p3.c1, p3.c2, p3.c3)), 'base64'), E'\n', '') as "cursor",
            (o5.*)::record as "node"
        ) o6
    ) w4,
      lateral (
        select w4.n > 30 as "hasNextPage",
          (
            w4.n > 0 and exists (
              select from (
                select * from (
                  (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is distinct from null order by t7."rating" desc, t7."title", t7."id"
                    limit 1
                  ) union all (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is not distinct from null order by t7."title", t7."id" limit 1
                  )
                ) f8
                order by f8.c2 desc nulls last, f8.c3, f8.c1 limit 1
              ) f8
              where (f8.c1) is distinct from (w4.a4[1])
            )
          ) as "hasPreviousPage",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[1], w4.a3[1], w4.a4[1])), 'base64'), E'\n', ''
          ) end as "startCursor",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[least(w4.n, 30)], w4.a3[least(w4.n, 30)], w4.a4[least(w4.n, 30)])), 'base64'), E'\n', ''
          ) end as "endCursor"
      ) o9
  ) o
)) as r1;

-- query Paging with variables such as {"size":null,"after":"WzEsMSwxXQ=="}
-- $1 = cursor of $after
-- $2 = cursor of $after
-- $3 = cursor of $after
select to_json((
  select (o.*)::record from (
    select w4.a1[1:30] as "edges", (o9.*)::record as "pageInfo"
    from (
      select coalesce(array_agg((o6.*)::record), '{}') as a1, coalesce(array_agg(p3.c1), '{}') as a2,
        coalesce(array_agg(p3.c2), '{}') as a3, coalesce(array_agg(p3.c3), '{}') as a4, count(*) as n
      from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null and (t2."rating" <= $1::numeric and (t2."rating" < $1::numeric or (t2."rating" = $1::numeric and (t2."title" >= $2::text and (t2."title" > $2::text or (t2."title" = $2::text and (t2."id" > $3::integer)))))))
            order by t2."rating" desc, t2."title", t2."id" limit 31
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id" limit 31
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit 31
      ) p3,
        lateral (select p3.c2 as "title", (p3.c1)::text as "rating") o5,
        lateral (
          select replace(encode(json_send(json_build_array(p3.c1, p3.c2, p3.c3)), 'base64'), E'\n', '') as "cursor",
            (o5.*)::record as "node"
        ) o6
    ) w4,
      lateral (
        select w4.n > 30 as "hasNextPage",
          (
            w4.n > 0 and exists (
              select from (
                select * from (
                  (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is distinct from null order by t7."rating" desc, t7."title", t7."id"
                    limit 1
                  ) union all (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is not distinct from null order by t7."title", t7."id" limit 1
                  )
                ) f8
                order by f8.c2 desc nulls last, f8.c3, f8.c1 limit 1
              ) f8
              where (f8.c1) is distinct from (w4.a4[1])
            )
          ) as "hasPreviousPage",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[1], w4.a3[1], w4.a4[1])), 'base64'), E'\n', ''
          ) end as "startCursor",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[least(w4.n, 30)], w4.a3[least(w4.n, 30)], w4.a4[least(w4.n, 30)])), 'base64'), E'\n', ''
          ) end as "endCursor"
      ) o9
  ) o
)) as r1;

-- query Paging with variables such as {}
select to_json((
  select (o.*)::record from (
    select w4.a1[1:least($size, 30)] as "edges", (o7.*)::record as "pageInfo"
    from (
      select coalesce(array_agg((o6.*)::record), '{}') as a1, coalesce(array_agg(p3.c1), '{}') as a2,
        coalesce(array_agg(p3.c2), '{}') as a3, coalesce(array_agg(p3.c3), '{}') as a4, count(*) as n
      from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null order by t2."rating" desc, t2."title", t2."id"
            limit least($size, 30) + 1
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id"
            limit least($size, 30) + 1
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit least($size, 30) + 1
      ) p3,
        lateral (select p3.c2 as "title", (p3.c1)::text as "rating") o5,
        lateral (
          select replace(encode(json_send(json_build_array(p3.c1, p3.c2, p3.c3)), 'base64'), E'\n', '') as "cursor",
            (o5.*)::record as "node"
        ) o6
    ) w4,
      lateral (
        select w4.n > least($size, 30) as "hasNextPage", false as "hasPreviousPage",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[1], w4.a3[1], w4.a4[1])), 'base64'), E'\n', ''
          ) end as "startCursor",
          case when w4.n > 0 then replace(
            encode(
              json_send(
                json_build_array(
                  w4.a2[least(w4.n, least($size, 30))], w4.a3[least(w4.n, least($size, 30))], w4.a4[least(w4.n, least($size, 30))]
                )
              ),
              'base64'
            ),
            E'\n', ''
          ) end as "endCursor"
      ) o7
  ) o
)) as r1;

-- query Paging with variables such as {"after":"WzFd"}
-- $1 = cursor of $after
select to_json((
  select (o.*)::record from (
    select w4.a1[1:least($size, 30)] as "edges", (o9.*)::record as "pageInfo"
    from (
      select coalesce(array_agg((o6.*)::record), '{}') as a1, coalesce(array_agg(p3.c1), '{}') as a2,
        coalesce(array_agg(p3.c2), '{}') as a3, coalesce(array_agg(p3.c3), '{}') as a4, count(*) as n
      from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null and ((t2."rating") < ($1::numeric))
            order by t2."rating" desc, t2."title", t2."id" limit least($size, 30) + 1
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id"
            limit least($size, 30) + 1
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit least($size, 30) + 1
      ) p3,
        lateral (select p3.c2 as "title", (p3.c1)::text as "rating") o5,
        lateral (
          select replace(encode(json_send(json_build_array(p3.c1, p3.c2, p3.c3)), 'base64'), E'\n', '') as "cursor",
            (o5.*)::record as "node"
        ) o6
    ) w4,
      lateral (
        select w4.n > least($size, 30) as "hasNextPage",
          (
            w4.n > 0 and exists (
              select from (
                select * from (
                  (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is distinct from null order by t7."rating" desc, t7."title", t7."id"
                    limit 1
                  ) union all (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is not distinct from null order by t7."title", t7."id" limit 1
                  )
                ) f8
                order by f8.c2 desc nulls last, f8.c3, f8.c1 limit 1
              ) f8
              where (f8.c1) is distinct from (w4.a4[1])
            )
          ) as "hasPreviousPage",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[1], w4.a3[1], w4.a4[1])), 'base64'), E'\n', ''
          ) end as "startCursor",
          case when w4.n > 0 then replace(
            encode(
              json_send(
                json_build_array(
                  w4.a2[least(w4.n, least($size, 30))], w4.a3[least(w4.n, least($size, 30))], w4.a4[least(w4.n, least($size, 30))]
                )
              ),
              'base64'
            ),
            E'\n', ''
          ) end as "endCursor"
      ) o9
  ) o
)) as r1;

-- query Paging with variables such as {"after":"WzEsMV0="}
-- $1 = cursor of $after
-- $2 = cursor of $after
select to_json((
  select (o.*)::record from (
    select w4.a1[1:least($size, 30)] as "edges", (o9.*)::record as "pageInfo"
    from (
      select coalesce(array_agg((o6.*)::record), '{}') as a1, coalesce(array_agg(p3.c1), '{}') as a2,
        coalesce(array_agg(p3.c2), '{}') as a3, coalesce(array_agg(p3.c3), '{}') as a4, count(*) as n
      from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null and (t2."rating" <= $1::numeric and (t2."rating" < $1::numeric or (t2."rating" = $1::numeric and (t2."title" > $2::text))))
            order by t2."rating" desc, t2."title", t2."id" limit least($size, 30) + 1
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id"
            limit least($size, 30) + 1
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit least($size, 30) + 1
      ) p3,
        lateral (select p3.c2 as "title", (p3.c1)::text as "rating") o5,
        lateral (
          select replace(encode(json_send(json_build_array(p3.c1, p3.c2, p3.c3)), 'base64'), E'\n', '') as "cursor",
            (o5.*)::record as "node"
        ) o6
    ) w4,
      lateral (
        select w4.n > least($size, 30) as "hasNextPage",
          (
            w4.n > 0 and exists (
              select from (
                select * from (
                  (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is distinct from null order by t7."rating" desc, t7."title", t7."id"
                    limit 1
                  ) union all (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is not distinct from null order by t7."title", t7."id" limit 1
                  )
                ) f8
                order by f8.c2 desc nulls last, f8.c3, f8.c1 limit 1
              ) f8
              where (f8.c1) is distinct from (w4.a4[1])
            )
          ) as "hasPreviousPage",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[1], w4.a3[1], w4.a4[1])), 'base64'), E'\n', ''
          ) end as "startCursor",
          case when w4.n > 0 then replace(
            encode(
              json_send(
                json_build_array(
                  w4.a2[least(w4.n, least($size, 30))], w4.a3[least(w4.n, least($size, 30))], w4.a4[least(w4.n, least($size, 30))]
                )
              ),
              'base64'
            ),
            E'\n', ''
          ) end as "endCursor"
      ) o9
  ) o
)) as r1;

-- query Paging with variables such as {"after":"WzEsMSwxXQ=="}
-- $1 = cursor of $after
-- $2 = cursor of $after
-- $3 = cursor of $after
select to_json((
  select (o.*)::record from (
    select w4.a1[1:least($size, 30)] as "edges", (o9.*)::record as "pageInfo"
    from (
      select coalesce(array_agg((o6.*)::record), '{}') as a1, coalesce(array_agg(p3.c1), '{}') as a2,
        coalesce(array_agg(p3.c2), '{}') as a3, coalesce(array_agg(p3.c3), '{}') as a4, count(*) as n
      from (
        select * from (
          (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is distinct from null and (t2."rating" <= $1::numeric and (t2."rating" < $1::numeric or (t2."rating" = $1::numeric and (t2."title" >= $2::text and (t2."title" > $2::text or (t2."title" = $2::text and (t2."id" > $3::integer)))))))
            order by t2."rating" desc, t2."title", t2."id" limit least($size, 30) + 1
          ) union all (
            select t2."rating" as c1, t2."title" as c2, t2."id" as c3 from "public"."posts" t2
            where t2."rating" is not distinct from null order by t2."title", t2."id"
            limit least($size, 30) + 1
          )
        ) p3
        order by p3.c1 desc nulls last, p3.c2, p3.c3 limit least($size, 30) + 1
      ) p3,
        lateral (select p3.c2 as "title", (p3.c1)::text as "rating") o5,
        lateral (
          select replace(encode(json_send(json_build_array(p3.c1, p3.c2, p3.c3)), 'base64'), E'\n', '') as "cursor",
            (o5.*)::record as "node"
        ) o6
    ) w4,
      lateral (
        select w4.n > least($size, 30) as "hasNextPage",
          (
            w4.n > 0 and exists (
              select from (
                select * from (
                  (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is distinct from null order by t7."rating" desc, t7."title", t7."id"
                    limit 1
                  ) union all (
                    select t7."id" as c1, t7."rating" as c2, t7."title" as c3 from "public"."posts" t7
                    where t7."rating" is not distinct from null order by t7."title", t7."id" limit 1
                  )
                ) f8
                order by f8.c2 desc nulls last, f8.c3, f8.c1 limit 1
              ) f8
              where (f8.c1) is distinct from (w4.a4[1])
            )
          ) as "hasPreviousPage",
          case when w4.n > 0 then replace(
            encode(json_send(json_build_array(w4.a2[1], w4.a3[1], w4.a4[1])), 'base64'), E'\n', ''
          ) end as "startCursor",
          case when w4.n > 0 then replace(
            encode(
              json_send(
                json_build_array(
                  w4.a2[least(w4.n, least($size, 30))], w4.a3[least(w4.n, least($size, 30))], w4.a4[least(w4.n, least($size, 30))]
                )
              ),
              'base64'
            ),
            E'\n', ''
          ) end as "endCursor"
      ) o9
  ) o
)) as r1;
