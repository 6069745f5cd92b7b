-- categories.graphql for anon, authenticated, service_role

-- query Categories
-- $1 = "bread"
select to_json((
  select (o.*)::record from (
    select array(
      select (o18.*)::record from (
        select t2."name" as c1, t2."id" as c2 from "public"."categories" t2
        where (t2."parent_id" is null) order by t2."position", t2."id" limit 30
      ) p3,
        lateral (
          select p3.c1 as "name",
            (
              select (o.*)::record from (
                select array(
                  select (o16.*)::record from (
                    select t6."name" as c1, t6."id" as c2 from "public"."categories" t6
                    where t6."parent_id" = p3.c2 order by t6."position", t6."id" limit 30
                  ) p7,
                    lateral (
                      select p7.c1 as "name",
                        (
                          select (o.*)::record from (
                            select array(
                              select (o14.*)::record from (
                                select t10."name" as c1 from "public"."categories" t10 where t10."parent_id" = p7.c2
                                order by t10."id" limit 30
                              ) p11,
                                lateral (select p11.c1 as "name") o13, lateral (select (o13.*)::record as "node") o14
                            ) as "edges"
                          ) o
                        ) as "subcategoryCollection"
                    ) o15,
                    lateral (select (o15.*)::record as "node") o16
                ) as "edges"
              ) o
            ) as "subcategoryCollection"
        ) o17,
        lateral (select (o17.*)::record as "node") o18
    ) as "edges"
  ) o
)) as r1,
  to_json((
    select (o.*)::record from (
      select array(
        select (o26.*)::record from (
          select t20."name" as c1, t20."parent_id" as c2 from "public"."categories" t20
          where (t20."slug" = $1::text) order by t20."id" limit 30
        ) p21,
          lateral (
            select p21.c1 as "name",
              (
                select (o.*)::record from (
                  select t23."name" as "name",
                    (
                      select (o.*)::record
                      from (select t24."name" as "name" from "public"."categories" t24 where t24."id" = t23."parent_id") o
                    ) as "parent"
                  from "public"."categories" t23 where t23."id" = p21.c2
                ) o
              ) as "parent"
          ) o25,
          lateral (select (o25.*)::record as "node") o26
      ) as "edges"
    ) o
  )) as r2;
