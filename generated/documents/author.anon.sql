-- author.graphql for anon, authenticated, service_role

-- query Author
-- $1 = $id
select to_json((
  select (o.*)::record from (
    select t1."username" as "username", t1."bio" as "bio", t1."is_staff" as "isStaff",
      (
        select (o.*)::record from (
          select u8.n as "totalCount",
            array(
              select (o7.*)::record from (
                select t3."title" as c1 from "public"."posts" t3 where t3."author_id" = t1."id"
                order by t3."published_at" desc nulls last, t3."id" limit 3
              ) p4,
                lateral (select p4.c1 as "title") o6, lateral (select (o6.*)::record as "node") o7
            ) as "edges"
          from (select count(*) as n from "public"."posts" t9 where t9."author_id" = t1."id") u8
        ) o
      ) as "postCollection",
      (
        select (o.*)::record from (
          select u17.n as "totalCount",
            array(
              select (o16.*)::record from (
                select t11."title" as c1, t11."author_id" as c2 from "public"."posts" t11
                where t11."editor_id" = t1."id" order by t11."published_at" desc nulls last, t11."id"
                limit 3
              ) p12,
                lateral (
                  select p12.c1 as "title",
                    (
                      select (o.*)::record from (select t14."username" as "username" from "public"."users" t14 where t14."id" = p12.c2) o
                    ) as "author"
                ) o15,
                lateral (select (o15.*)::record as "node") o16
            ) as "edges"
          from (select count(*) as n from "public"."posts" t18 where t18."editor_id" = t1."id") u17
        ) o
      ) as "editedPostCollection",
      (
        select (o.*)::record from (
          select array(
            select (o24.*)::record from (
              select q.*, row_number() over () as rn from (
                select t20."month" as c1, t20."post_count" as c2, t20."word_count" as c3, t20."average_rating" as c4
                from "public"."author_activity" t20
                where t20."author_id" = t1."id" and t20."month" is distinct from null
                order by t20."author_id" desc, t20."month" desc limit 6
              ) q
              order by rn desc
            ) p21,
              lateral (select p21.c1 as "month", p21.c2 as "postCount", p21.c3 as "wordCount", (p21.c4)::text as "averageRating") o23,
              lateral (select (o23.*)::record as "node") o24
          ) as "edges"
        ) o
      ) as "activityCollection"
    from "public"."users" t1 where (t1."id" = $1::uuid)
  ) o
)) as r1;
