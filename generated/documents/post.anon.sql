-- post.graphql for anon, authenticated, service_role

-- query Post
-- $1 = $id
select to_json((
  select (o.*)::record from (
    select t1."title" as "title", t1."body" as "body", ((t1."metadata") #>> '{}') as "metadata", t1."word_count" as "wordCount",
      (t1."view_count")::text as "viewCount", (t1."rating")::text as "rating",
      (
        select (o.*)::record from (
          select array(
            select (o8.*)::record from (
              select t3."tag_id" as c1 from "public"."post_tags" t3 where t3."post_id" = t1."id" order by t3."post_id", t3."tag_id" limit 30
            ) p4,
              lateral (
                select (select (o.*)::record from (select t6."name" as "name" from "public"."tags" t6 where t6."id" = p4.c1) o) as "tag"
              ) o7,
              lateral (select (o7.*)::record as "node") o8
          ) as "edges"
        ) o
      ) as "postTagCollection",
      (
        select (o.*)::record from (
          select array(
            select (o22.*)::record from (
              select t10."body" as c1, t10."created_at" as c2, t10."author_id" as c3, t10."post_id" as c4, t10."id" as c5
              from "public"."comments" t10 where t10."post_id" = t1."id" and (t10."parent_id" is null)
              order by t10."created_at", t10."id" limit 5
            ) p11,
              lateral (
                select p11.c1 as "body", p11.c2 as "createdAt",
                  (
                    select (o.*)::record from (select t13."username" as "username" from "public"."users" t13 where t13."id" = p11.c3) o
                  ) as "author",
                  (
                    select (o.*)::record from (
                      select array(
                        select (o20.*)::record from (
                          select t15."body" as c1, t15."created_at" as c2, t15."author_id" as c3
                          from "public"."comments" t15 where t15."post_id" = p11.c4 and t15."parent_id" = p11.c5
                          order by t15."id" limit 3
                        ) p16,
                          lateral (
                            select p16.c1 as "body", p16.c2 as "createdAt",
                              (
                                select (o.*)::record
                                from (select t18."username" as "username" from "public"."users" t18 where t18."id" = p16.c3) o
                              ) as "author"
                          ) o19,
                          lateral (select (o19.*)::record as "node") o20
                      ) as "edges"
                    ) o
                  ) as "replyCollection"
              ) o21,
              lateral (select (o21.*)::record as "node") o22
          ) as "edges"
        ) o
      ) as "commentCollection",
      (
        select (o.*)::record from (
          select array(
            select (o29.*)::record from (
              select t24."user_id" as c1 from "public"."likes" t24 where t24."post_id" = t1."id"
              order by t24."created_at" desc, t24."post_id", t24."user_id" limit 3
            ) p25,
              lateral (
                select (
                  select (o.*)::record from (select t27."username" as "username" from "public"."users" t27 where t27."id" = p25.c1) o
                ) as "user"
              ) o28,
              lateral (select (o28.*)::record as "node") o29
          ) as "edges"
        ) o
      ) as "likeCollection",
      (
        select (o.*)::record from (
          select array(
            select (o35.*)::record from (
              select t31."id" as c1, t31."title" as c2
              from "public"."related_posts"((t1.*)::"public"."posts") t31
              where t31."id" is distinct from null order by t31."published_at" desc nulls last, t31."id"
              limit 3
            ) p32,
              lateral (select p32.c1 as "id", p32.c2 as "title") o34, lateral (select (o34.*)::record as "node") o35
          ) as "edges"
        ) o
      ) as "relatedPostCollection"
    from "public"."posts" t1 where (t1."id" = $1::integer)
  ) o
)) as r1;
