-- node.graphql for anon, authenticated, service_role

-- query Node with variables such as {}
-- $1 = node-key of $nodeId
select to_json((
  select (o.*)::record from (
    select 'Post'::text as "__typename",
      pg_catalog.replace(
        pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array('public', 'posts', t1."id")), 'base64'), E'\n', ''
      ) as "nodeId",
      t1."title" as "title",
      (
        select (o.*)::record from (
          select pg_catalog.replace(
            pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array('public', 'users', t2."id")), 'base64'), E'\n', ''
          ) as "nodeId"
          from "public"."users" t2 where t2."id" = t1."author_id"
        ) o
      ) as "author"
    from "public"."posts" t1 where (t1."id" = $1::integer)
  ) o
)) as r1;

-- query Node with variables such as {"nodeId":"WyJwdWJsaWMiLCJ1c2VycyIsMV0="}
-- $1 = node-key of $nodeId
select to_json((
  select (o.*)::record from (
    select 'User'::text as "__typename",
      pg_catalog.replace(
        pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array('public', 'users', t1."id")), 'base64'), E'\n', ''
      ) as "nodeId",
      t1."username" as "username"
    from "public"."users" t1 where (t1."id" = $1::uuid)
  ) o
)) as r1;
