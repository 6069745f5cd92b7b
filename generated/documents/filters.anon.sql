-- filters.graphql for anon, authenticated, service_role

-- query Filters with variables such as {"title":null,"keywords":null,"atLeast":null}
-- $1 = null
-- $2 = null
-- $3 = null
-- $4 = "2024-01-01T00:00:00Z"
-- $5 = ["draft", "archived"]
select to_json((
  select (o.*)::record from (
    select u7.n as "totalCount",
      array(
        select (o6.*)::record from (
          select t2."title" as c1, t2."keywords" as c2, t2."rating" as c3, t2."view_count" as c4
          from "public"."posts" t2
          where (((t2."title" ilike $1::text) or (t2."keywords" && $2::text[])) and (t2."rating" >= $3::numeric) and (t2."editor_id" is not null) and (t2."published_at" >= $4::timestamp with time zone) and (not (t2."status" = any ($5::public.post_status[]))))
          order by t2."view_count" desc, t2."id" limit 30
        ) p3,
          lateral (select p3.c1 as "title", p3.c2 as "keywords", (p3.c3)::text as "rating", (p3.c4)::text as "viewCount") o5,
          lateral (select (o5.*)::record as "node") o6
      ) as "edges"
    from (
      select count(*) as n from "public"."posts" t8
      where (((t8."title" ilike $1::text) or (t8."keywords" && $2::text[])) and (t8."rating" >= $3::numeric) and (t8."editor_id" is not null) and (t8."published_at" >= $4::timestamp with time zone) and (not (t8."status" = any ($5::public.post_status[]))))
    ) u7
  ) o
)) as r1;

-- query Filters with variables such as {"title":null,"keywords":null}
-- $1 = null
-- $2 = null
-- $3 = $atLeast
-- $4 = "2024-01-01T00:00:00Z"
-- $5 = ["draft", "archived"]
select to_json((
  select (o.*)::record from (
    select u7.n as "totalCount",
      array(
        select (o6.*)::record from (
          select t2."title" as c1, t2."keywords" as c2, t2."rating" as c3, t2."view_count" as c4
          from "public"."posts" t2
          where (((t2."title" ilike $1::text) or (t2."keywords" && $2::text[])) and (t2."rating" >= $3::numeric) and (t2."editor_id" is not null) and (t2."published_at" >= $4::timestamp with time zone) and (not (t2."status" = any ($5::public.post_status[]))))
          order by t2."view_count" desc, t2."id" limit 30
        ) p3,
          lateral (select p3.c1 as "title", p3.c2 as "keywords", (p3.c3)::text as "rating", (p3.c4)::text as "viewCount") o5,
          lateral (select (o5.*)::record as "node") o6
      ) as "edges"
    from (
      select count(*) as n from "public"."posts" t8
      where (((t8."title" ilike $1::text) or (t8."keywords" && $2::text[])) and (t8."rating" >= $3::numeric) and (t8."editor_id" is not null) and (t8."published_at" >= $4::timestamp with time zone) and (not (t8."status" = any ($5::public.post_status[]))))
    ) u7
  ) o
)) as r1;

-- query Filters with variables such as {"title":null,"atLeast":null}
-- $1 = null
-- $2 = $keywords
-- $3 = null
-- $4 = "2024-01-01T00:00:00Z"
-- $5 = ["draft", "archived"]
select to_json((
  select (o.*)::record from (
    select u7.n as "totalCount",
      array(
        select (o6.*)::record from (
          select t2."title" as c1, t2."keywords" as c2, t2."rating" as c3, t2."view_count" as c4
          from "public"."posts" t2
          where (((t2."title" ilike $1::text) or (t2."keywords" && $2::text[])) and (t2."rating" >= $3::numeric) and (t2."editor_id" is not null) and (t2."published_at" >= $4::timestamp with time zone) and (not (t2."status" = any ($5::public.post_status[]))))
          order by t2."view_count" desc, t2."id" limit 30
        ) p3,
          lateral (select p3.c1 as "title", p3.c2 as "keywords", (p3.c3)::text as "rating", (p3.c4)::text as "viewCount") o5,
          lateral (select (o5.*)::record as "node") o6
      ) as "edges"
    from (
      select count(*) as n from "public"."posts" t8
      where (((t8."title" ilike $1::text) or (t8."keywords" && $2::text[])) and (t8."rating" >= $3::numeric) and (t8."editor_id" is not null) and (t8."published_at" >= $4::timestamp with time zone) and (not (t8."status" = any ($5::public.post_status[]))))
    ) u7
  ) o
)) as r1;

-- query Filters with variables such as {"title":null}
-- $1 = null
-- $2 = $keywords
-- $3 = $atLeast
-- $4 = "2024-01-01T00:00:00Z"
-- $5 = ["draft", "archived"]
select to_json((
  select (o.*)::record from (
    select u7.n as "totalCount",
      array(
        select (o6.*)::record from (
          select t2."title" as c1, t2."keywords" as c2, t2."rating" as c3, t2."view_count" as c4
          from "public"."posts" t2
          where (((t2."title" ilike $1::text) or (t2."keywords" && $2::text[])) and (t2."rating" >= $3::numeric) and (t2."editor_id" is not null) and (t2."published_at" >= $4::timestamp with time zone) and (not (t2."status" = any ($5::public.post_status[]))))
          order by t2."view_count" desc, t2."id" limit 30
        ) p3,
          lateral (select p3.c1 as "title", p3.c2 as "keywords", (p3.c3)::text as "rating", (p3.c4)::text as "viewCount") o5,
          lateral (select (o5.*)::record as "node") o6
      ) as "edges"
    from (
      select count(*) as n from "public"."posts" t8
      where (((t8."title" ilike $1::text) or (t8."keywords" && $2::text[])) and (t8."rating" >= $3::numeric) and (t8."editor_id" is not null) and (t8."published_at" >= $4::timestamp with time zone) and (not (t8."status" = any ($5::public.post_status[]))))
    ) u7
  ) o
)) as r1;

-- query Filters with variables such as {"keywords":null,"atLeast":null}
-- $1 = $title
-- $2 = null
-- $3 = null
-- $4 = "2024-01-01T00:00:00Z"
-- $5 = ["draft", "archived"]
select to_json((
  select (o.*)::record from (
    select u7.n as "totalCount",
      array(
        select (o6.*)::record from (
          select t2."title" as c1, t2."keywords" as c2, t2."rating" as c3, t2."view_count" as c4
          from "public"."posts" t2
          where (((t2."title" ilike $1::text) or (t2."keywords" && $2::text[])) and (t2."rating" >= $3::numeric) and (t2."editor_id" is not null) and (t2."published_at" >= $4::timestamp with time zone) and (not (t2."status" = any ($5::public.post_status[]))))
          order by t2."view_count" desc, t2."id" limit 30
        ) p3,
          lateral (select p3.c1 as "title", p3.c2 as "keywords", (p3.c3)::text as "rating", (p3.c4)::text as "viewCount") o5,
          lateral (select (o5.*)::record as "node") o6
      ) as "edges"
    from (
      select count(*) as n from "public"."posts" t8
      where (((t8."title" ilike $1::text) or (t8."keywords" && $2::text[])) and (t8."rating" >= $3::numeric) and (t8."editor_id" is not null) and (t8."published_at" >= $4::timestamp with time zone) and (not (t8."status" = any ($5::public.post_status[]))))
    ) u7
  ) o
)) as r1;

-- query Filters with variables such as {"keywords":null}
-- $1 = $title
-- $2 = null
-- $3 = $atLeast
-- $4 = "2024-01-01T00:00:00Z"
-- $5 = ["draft", "archived"]
select to_json((
  select (o.*)::record from (
    select u7.n as "totalCount",
      array(
        select (o6.*)::record from (
          select t2."title" as c1, t2."keywords" as c2, t2."rating" as c3, t2."view_count" as c4
          from "public"."posts" t2
          where (((t2."title" ilike $1::text) or (t2."keywords" && $2::text[])) and (t2."rating" >= $3::numeric) and (t2."editor_id" is not null) and (t2."published_at" >= $4::timestamp with time zone) and (not (t2."status" = any ($5::public.post_status[]))))
          order by t2."view_count" desc, t2."id" limit 30
        ) p3,
          lateral (select p3.c1 as "title", p3.c2 as "keywords", (p3.c3)::text as "rating", (p3.c4)::text as "viewCount") o5,
          lateral (select (o5.*)::record as "node") o6
      ) as "edges"
    from (
      select count(*) as n from "public"."posts" t8
      where (((t8."title" ilike $1::text) or (t8."keywords" && $2::text[])) and (t8."rating" >= $3::numeric) and (t8."editor_id" is not null) and (t8."published_at" >= $4::timestamp with time zone) and (not (t8."status" = any ($5::public.post_status[]))))
    ) u7
  ) o
)) as r1;

-- query Filters with variables such as {"atLeast":null}
-- $1 = $title
-- $2 = $keywords
-- $3 = null
-- $4 = "2024-01-01T00:00:00Z"
-- $5 = ["draft", "archived"]
select to_json((
  select (o.*)::record from (
    select u7.n as "totalCount",
      array(
        select (o6.*)::record from (
          select t2."title" as c1, t2."keywords" as c2, t2."rating" as c3, t2."view_count" as c4
          from "public"."posts" t2
          where (((t2."title" ilike $1::text) or (t2."keywords" && $2::text[])) and (t2."rating" >= $3::numeric) and (t2."editor_id" is not null) and (t2."published_at" >= $4::timestamp with time zone) and (not (t2."status" = any ($5::public.post_status[]))))
          order by t2."view_count" desc, t2."id" limit 30
        ) p3,
          lateral (select p3.c1 as "title", p3.c2 as "keywords", (p3.c3)::text as "rating", (p3.c4)::text as "viewCount") o5,
          lateral (select (o5.*)::record as "node") o6
      ) as "edges"
    from (
      select count(*) as n from "public"."posts" t8
      where (((t8."title" ilike $1::text) or (t8."keywords" && $2::text[])) and (t8."rating" >= $3::numeric) and (t8."editor_id" is not null) and (t8."published_at" >= $4::timestamp with time zone) and (not (t8."status" = any ($5::public.post_status[]))))
    ) u7
  ) o
)) as r1;

-- query Filters with variables such as {}
-- $1 = $title
-- $2 = $keywords
-- $3 = $atLeast
-- $4 = "2024-01-01T00:00:00Z"
-- $5 = ["draft", "archived"]
select to_json((
  select (o.*)::record from (
    select u7.n as "totalCount",
      array(
        select (o6.*)::record from (
          select t2."title" as c1, t2."keywords" as c2, t2."rating" as c3, t2."view_count" as c4
          from "public"."posts" t2
          where (((t2."title" ilike $1::text) or (t2."keywords" && $2::text[])) and (t2."rating" >= $3::numeric) and (t2."editor_id" is not null) and (t2."published_at" >= $4::timestamp with time zone) and (not (t2."status" = any ($5::public.post_status[]))))
          order by t2."view_count" desc, t2."id" limit 30
        ) p3,
          lateral (select p3.c1 as "title", p3.c2 as "keywords", (p3.c3)::text as "rating", (p3.c4)::text as "viewCount") o5,
          lateral (select (o5.*)::record as "node") o6
      ) as "edges"
    from (
      select count(*) as n from "public"."posts" t8
      where (((t8."title" ilike $1::text) or (t8."keywords" && $2::text[])) and (t8."rating" >= $3::numeric) and (t8."editor_id" is not null) and (t8."published_at" >= $4::timestamp with time zone) and (not (t8."status" = any ($5::public.post_status[]))))
    ) u7
  ) o
)) as r1;
