-- What version 0.1.0 makes in a database: compiler/following/prepare, then the migrations of auth, as postgres with the login role authenticator.
-- role anon
do $$ begin create role anon nologin noinherit; exception when duplicate_object or unique_violation then null; end $$;

-- role authenticated
do $$ begin create role authenticated nologin noinherit; exception when duplicate_object or unique_violation then null; end $$;

-- role service_role
do $$ begin if (select r.rolsuper or (r.rolbypassrls and pg_catalog.current_setting('server_version_num')::int >= 160000)
      from pg_catalog.pg_roles r where r.rolname = current_user) then create role service_role nologin noinherit bypassrls; else create role service_role nologin noinherit; end if; exception when duplicate_object or unique_violation then null; end $$;

-- anon for authenticator
grant anon to "authenticator";

-- authenticated for authenticator
grant authenticated to "authenticator";

-- service_role for authenticator
grant service_role to "authenticator";

-- schema catalograph
create schema if not exists catalograph;

-- table catalograph.schema_version
create table if not exists catalograph.schema_version (pid int primary key, n bigint not null);

-- table catalograph.schema_change
create table if not exists catalograph.schema_change (pid int, slot int, xid xid8 not null, relations oid[], granted boolean not null, primary key (pid, slot));

-- sequence catalograph.schema_mark
do $$ begin
  create sequence if not exists catalograph.schema_mark;
  execute pg_catalog.format('alter sequence catalograph.schema_mark owner to %I', (
    select r.rolname from pg_catalog.pg_class c join pg_catalog.pg_roles r on r.oid = c.relowner
    where c.oid = 'catalograph.schema_version'::pg_catalog.regclass));
  perform pg_catalog.setval('catalograph.schema_mark', (pg_catalog.random() * 9e18)::bigint + 1);
end $$;

-- function catalograph.current
create or replace function catalograph.current(version text, holders text, held text) returns boolean language plpgsql stable parallel safe
  security invoker as '
declare
  now text;
  holder text;
begin
  if pg_catalog.current_setting(''catalograph.changed'', true) = ''on'' then return true; end if;
  if pg_catalog.strpos(version, ''.'') = 0 then
    now := (select coalesce(pg_catalog.sum(n), 0)::text from catalograph.schema_version);
  else
    now := (
  (select coalesce(pg_catalog.sum(n), 0)::text from catalograph.schema_version)
  || ''.'' || (select pg_catalog.sum(h)::text from (
    select pg_catalog.hash_record_extended(m, 0) from pg_catalog.pg_auth_members m
    union all
    select pg_catalog.hashtextextended(rolname::text, oid::bigint * 4 + rolsuper::int * 2 + rolinherit::int)
    from pg_catalog.pg_roles
    union all
    select pg_catalog.hashint8extended(datdba::bigint, 1) from pg_catalog.pg_database
    where datname = pg_catalog.current_database()
  ) facts (h))
);
  end if;
  if now <> version then
    raise exception using errcode = ''CG001'', message = ''the schema is now at version '' || now;
  end if;
  if holders is null then return true; end if;
  now := pg_catalog.current_setting(''is_superuser'');
  foreach holder in array holders::text[] loop
    now := now || pg_catalog.pg_has_role(holder::name, ''USAGE'')::int;
  end loop;
  if now = held then return true; end if;
  raise exception using errcode = ''CG001'', message = ''the role has other privileges now'';
end
';

-- function catalograph.refuse
create or replace function catalograph.refuse(reason text) returns boolean language plpgsql
  security invoker as ' begin raise exception using errcode = ''CG002'', message = reason; end ';

-- function catalograph.fold_versions
create or replace function catalograph.fold_versions() returns void language sql
  security definer set search_path = pg_catalog, pg_temp as '
  with folded as (
    delete from catalograph.schema_version
    where pid in (select pid from catalograph.schema_version where pid <> 0 for update skip locked)
    returning n
  )
  insert into catalograph.schema_version as v (pid, n)
  select 0, pg_catalog.sum(n)::bigint from folded having pg_catalog.count(*) > 0
  on conflict (pid) do update set n = v.n + excluded.n;
  delete from catalograph.schema_change
  where xid >= pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) or (pid, slot) in (select pid, slot from catalograph.schema_change
    order by xid desc offset 256 for update skip locked)
';

-- function catalograph.count_commands
create or replace function catalograph.count_commands() returns event_trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as E'
declare
  counted bigint;
  counts boolean;
  changed oid[];
begin
  if tg_tag in (''REFRESH MATERIALIZED VIEW'', ''REINDEX'', ''SECURITY LABEL'', ''CREATE STATISTICS'', ''ALTER STATISTICS'', ''DROP STATISTICS'', ''CREATE PUBLICATION'', ''ALTER PUBLICATION'', ''DROP PUBLICATION'', ''CREATE SUBSCRIPTION'', ''ALTER SUBSCRIPTION'', ''DROP SUBSCRIPTION'', ''CREATE TEXT SEARCH CONFIGURATION'', ''ALTER TEXT SEARCH CONFIGURATION'', ''DROP TEXT SEARCH CONFIGURATION'', ''CREATE TEXT SEARCH DICTIONARY'', ''ALTER TEXT SEARCH DICTIONARY'', ''DROP TEXT SEARCH DICTIONARY'') then return; end if;
  select pg_catalog.count(*) > 0 or tg_tag = ''DROP OWNED'',
    case when tg_tag in (''CREATE TABLE'', ''ALTER TABLE'', ''DROP TABLE'', ''CREATE VIEW'', ''ALTER VIEW'', ''DROP VIEW'', ''CREATE MATERIALIZED VIEW'', ''ALTER MATERIALIZED VIEW'', ''DROP MATERIALIZED VIEW'', ''CREATE FUNCTION'', ''ALTER FUNCTION'', ''DROP FUNCTION'', ''CREATE PROCEDURE'', ''ALTER PROCEDURE'', ''DROP PROCEDURE'', ''CREATE POLICY'', ''ALTER POLICY'', ''DROP POLICY'', ''CREATE TRIGGER'', ''ALTER TRIGGER'', ''DROP TRIGGER'', ''CREATE TABLE AS'', ''SELECT INTO'', ''CREATE INDEX'', ''CREATE TYPE'', ''CREATE DOMAIN'', ''ALTER TYPE'', ''COMMENT'', ''GRANT'', ''REVOKE'', ''ALTER DEFAULT PRIVILEGES'')
      and pg_catalog.bool_and(c.classid is null or c.classid in (''pg_catalog.pg_class''::pg_catalog.regclass, ''pg_catalog.pg_constraint''::pg_catalog.regclass, ''pg_catalog.pg_attrdef''::pg_catalog.regclass, ''pg_catalog.pg_proc''::pg_catalog.regclass, ''pg_catalog.pg_type''::pg_catalog.regclass, ''pg_catalog.pg_namespace''::pg_catalog.regclass, ''pg_catalog.pg_policy''::pg_catalog.regclass, ''pg_catalog.pg_trigger''::pg_catalog.regclass, ''pg_catalog.pg_rewrite''::pg_catalog.regclass, ''pg_catalog.pg_statistic_ext''::pg_catalog.regclass, ''pg_catalog.pg_publication_rel''::pg_catalog.regclass))
      and (tg_tag <> ''ALTER TYPE'' or pg_catalog.bool_and(exists (
        select from pg_catalog.pg_type t where t.oid = c.objid and t.typtype = ''e'')))
    then coalesce(pg_catalog.array_agg(distinct relation.oid) filter (where relation.oid is not null), ''{}'') end
  into counts, changed
  from pg_catalog.pg_event_trigger_ddl_commands() c
  cross join lateral (select case c.classid
    when ''pg_catalog.pg_class''::pg_catalog.regclass then coalesce(
      (select i.indrelid from pg_catalog.pg_index i where i.indexrelid = c.objid), c.objid)
    when ''pg_catalog.pg_constraint''::pg_catalog.regclass then
      (select k.conrelid from pg_catalog.pg_constraint k where k.oid = c.objid)
    end as oid) relation
  where c.command_tag not in (''REFRESH MATERIALIZED VIEW'', ''REINDEX'', ''SECURITY LABEL'', ''CREATE STATISTICS'', ''ALTER STATISTICS'', ''DROP STATISTICS'', ''CREATE PUBLICATION'', ''ALTER PUBLICATION'', ''DROP PUBLICATION'', ''CREATE SUBSCRIPTION'', ''ALTER SUBSCRIPTION'', ''DROP SUBSCRIPTION'', ''CREATE TEXT SEARCH CONFIGURATION'', ''ALTER TEXT SEARCH CONFIGURATION'', ''DROP TEXT SEARCH CONFIGURATION'', ''CREATE TEXT SEARCH DICTIONARY'', ''ALTER TEXT SEARCH DICTIONARY'', ''DROP TEXT SEARCH DICTIONARY'')
    and c.schema_name is distinct from ''pg_temp''
    and coalesce(c.object_identity, '''') not like ''% on pg\\_temp.%''
    and (c.object_type <> ''index'' or exists (
      select from pg_catalog.pg_index i where i.indexrelid = c.objid and i.indisunique));
  if counts then
    if exists (select from pg_catalog.pg_inherits i where i.inhrelid = any (changed))
      or exists (select from pg_catalog.pg_inherits i where i.inhparent = any (changed))
      or exists (select from pg_catalog.pg_class c where c.oid = any (changed) and c.relkind = ''p'')
      or pg_catalog.current_setting(''transaction_isolation'') not in (''read committed'', ''read uncommitted'') then
      changed := null;
    elsif changed is not null then
      changed := changed || array(
        select k.conrelid from pg_catalog.pg_depend d join pg_catalog.pg_constraint k on k.oid = d.objid
        where d.refclassid = ''pg_catalog.pg_class''::pg_catalog.regclass and d.refobjid = any (changed)
          and d.classid = ''pg_catalog.pg_constraint''::pg_catalog.regclass and k.contype = ''f''
          and pg_catalog.age(k.xmin) <= pg_catalog.age(pg_catalog.pg_current_xact_id()::pg_catalog.xid));
    end if;
    insert into catalograph.schema_version as v (pid, n) values (pg_backend_pid(), 1)
      on conflict (pid) do update set n = v.n + 1 returning n into counted;
    insert into catalograph.schema_change (pid, slot, xid, relations, granted)
      values (pg_backend_pid(), counted % 64, pg_current_xact_id(), changed,
        tg_tag in (''GRANT'', ''REVOKE''))
      on conflict (pid, slot) do update
      set xid = excluded.xid, relations = excluded.relations, granted = excluded.granted;
    perform pg_catalog.setval(''catalograph.schema_mark'', (pg_catalog.random() * 9e18)::bigint + 1);
    perform pg_catalog.set_config(''catalograph.changed'', ''on'', true);
  end if;
end
';

-- function catalograph.count_drops
create or replace function catalograph.count_drops() returns event_trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as '
declare
  counted bigint;
  counts boolean;
  changed oid[];
begin
  if tg_tag in (''REFRESH MATERIALIZED VIEW'', ''REINDEX'', ''SECURITY LABEL'', ''CREATE STATISTICS'', ''ALTER STATISTICS'', ''DROP STATISTICS'', ''CREATE PUBLICATION'', ''ALTER PUBLICATION'', ''DROP PUBLICATION'', ''CREATE SUBSCRIPTION'', ''ALTER SUBSCRIPTION'', ''DROP SUBSCRIPTION'', ''CREATE TEXT SEARCH CONFIGURATION'', ''ALTER TEXT SEARCH CONFIGURATION'', ''DROP TEXT SEARCH CONFIGURATION'', ''CREATE TEXT SEARCH DICTIONARY'', ''ALTER TEXT SEARCH DICTIONARY'', ''DROP TEXT SEARCH DICTIONARY'') then return; end if;
  select coalesce(pg_catalog.bool_or(d.object_type not in (''default value'', ''trigger'', ''policy'', ''rule'', ''statistics object'', ''publication relation'')
      or tg_tag in (''DROP TRIGGER'', ''DROP POLICY'', ''DROP RULE'')), false),
    case when tg_tag in (''CREATE TABLE'', ''ALTER TABLE'', ''DROP TABLE'', ''CREATE VIEW'', ''ALTER VIEW'', ''DROP VIEW'', ''CREATE MATERIALIZED VIEW'', ''ALTER MATERIALIZED VIEW'', ''DROP MATERIALIZED VIEW'', ''CREATE FUNCTION'', ''ALTER FUNCTION'', ''DROP FUNCTION'', ''CREATE PROCEDURE'', ''ALTER PROCEDURE'', ''DROP PROCEDURE'', ''CREATE POLICY'', ''ALTER POLICY'', ''DROP POLICY'', ''CREATE TRIGGER'', ''ALTER TRIGGER'', ''DROP TRIGGER'', ''CREATE TABLE AS'', ''SELECT INTO'', ''CREATE INDEX'', ''CREATE TYPE'', ''CREATE DOMAIN'', ''ALTER TYPE'', ''COMMENT'', ''GRANT'', ''REVOKE'', ''ALTER DEFAULT PRIVILEGES'') and pg_catalog.bool_and(d.classid in (''pg_catalog.pg_class''::pg_catalog.regclass, ''pg_catalog.pg_constraint''::pg_catalog.regclass, ''pg_catalog.pg_attrdef''::pg_catalog.regclass, ''pg_catalog.pg_proc''::pg_catalog.regclass, ''pg_catalog.pg_type''::pg_catalog.regclass, ''pg_catalog.pg_namespace''::pg_catalog.regclass, ''pg_catalog.pg_policy''::pg_catalog.regclass, ''pg_catalog.pg_trigger''::pg_catalog.regclass, ''pg_catalog.pg_rewrite''::pg_catalog.regclass, ''pg_catalog.pg_statistic_ext''::pg_catalog.regclass, ''pg_catalog.pg_publication_rel''::pg_catalog.regclass))
    then coalesce(pg_catalog.array_agg(distinct relation.oid) filter (where relation.oid is not null), ''{}'') end
  into counts, changed
  from pg_catalog.pg_event_trigger_dropped_objects() d
  cross join lateral (select case
    when d.classid = ''pg_catalog.pg_class''::pg_catalog.regclass then d.objid
    when d.classid in (''pg_catalog.pg_constraint''::pg_catalog.regclass, ''pg_catalog.pg_attrdef''::pg_catalog.regclass) then
      (select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = d.address_names[1] and c.relname = d.address_names[2])
    end as oid) relation
  where not d.is_temporary and d.address_names[1] is distinct from ''pg_temp'';
  if counts then
    if exists (select from pg_catalog.pg_inherits i where i.inhrelid = any (changed))
      or exists (select from pg_catalog.pg_inherits i where i.inhparent = any (changed))
      or exists (select from pg_catalog.pg_class c where c.oid = any (changed) and c.relkind = ''p'')
      or pg_catalog.current_setting(''transaction_isolation'') not in (''read committed'', ''read uncommitted'') then
      changed := null;
    elsif changed is not null then
      changed := changed || array(
        select k.conrelid from pg_catalog.pg_depend d join pg_catalog.pg_constraint k on k.oid = d.objid
        where d.refclassid = ''pg_catalog.pg_class''::pg_catalog.regclass and d.refobjid = any (changed)
          and d.classid = ''pg_catalog.pg_constraint''::pg_catalog.regclass and k.contype = ''f''
          and pg_catalog.age(k.xmin) <= pg_catalog.age(pg_catalog.pg_current_xact_id()::pg_catalog.xid));
    end if;
    insert into catalograph.schema_version as v (pid, n) values (pg_backend_pid(), 1)
      on conflict (pid) do update set n = v.n + 1 returning n into counted;
    insert into catalograph.schema_change (pid, slot, xid, relations, granted)
      values (pg_backend_pid(), counted % 64, pg_current_xact_id(), changed,
        tg_tag in (''GRANT'', ''REVOKE''))
      on conflict (pid, slot) do update
      set xid = excluded.xid, relations = excluded.relations, granted = excluded.granted;
    perform pg_catalog.setval(''catalograph.schema_mark'', (pg_catalog.random() * 9e18)::bigint + 1);
    perform pg_catalog.set_config(''catalograph.changed'', ''on'', true);
  end if;
end
';

-- usage on schema catalograph
grant usage on schema catalograph to public;

-- select on catalograph.schema_version
grant select on catalograph.schema_version to public;

-- select on catalograph.schema_change
grant select on catalograph.schema_change to public;

-- select on catalograph.schema_mark
grant select on sequence catalograph.schema_mark to public;

-- execute on catalograph.current
grant execute on function catalograph.current(text, text, text) to public;

-- execute on catalograph.refuse
grant execute on function catalograph.refuse(text) to public;

-- execute on catalograph.fold_versions
grant execute on function catalograph.fold_versions() to public;

-- schema auth
create schema if not exists auth;

-- function auth.uid
create function auth.uid() returns uuid language sql stable as ' select (nullif(pg_catalog.current_setting(''request.jwt.claims'', true), '''')::jsonb ->> ''sub'')::uuid ';

-- function auth.jwt
create function auth.jwt() returns jsonb language sql stable as ' select nullif(pg_catalog.current_setting(''request.jwt.claims'', true), '''')::jsonb ';

-- function auth.role
create function auth.role() returns text language sql stable as ' select nullif(pg_catalog.current_setting(''request.jwt.claims'', true), '''')::jsonb ->> ''role'' ';

-- function auth.email
create function auth.email() returns text language sql stable as ' select nullif(pg_catalog.current_setting(''request.jwt.claims'', true), '''')::jsonb ->> ''email'' ';

-- usage on schema auth for anon
grant usage on schema auth to anon;

-- usage on schema auth for authenticated
grant usage on schema auth to authenticated;

-- usage on schema auth for service_role
grant usage on schema auth to service_role;

-- execute on auth.uid for anon
grant execute on function auth.uid() to anon;

-- execute on auth.uid for authenticated
grant execute on function auth.uid() to authenticated;

-- execute on auth.uid for service_role
grant execute on function auth.uid() to service_role;

-- execute on auth.jwt for anon
grant execute on function auth.jwt() to anon;

-- execute on auth.jwt for authenticated
grant execute on function auth.jwt() to authenticated;

-- execute on auth.jwt for service_role
grant execute on function auth.jwt() to service_role;

-- execute on auth.role for anon
grant execute on function auth.role() to anon;

-- execute on auth.role for authenticated
grant execute on function auth.role() to authenticated;

-- execute on auth.role for service_role
grant execute on function auth.role() to service_role;

-- execute on auth.email for anon
grant execute on function auth.email() to anon;

-- execute on auth.email for authenticated
grant execute on function auth.email() to authenticated;

-- execute on auth.email for service_role
grant execute on function auth.email() to service_role;

-- event trigger catalograph_ddl_command_end
do $$ begin
  drop event trigger if exists catalograph_ddl_command_end;
  create event trigger catalograph_ddl_command_end on ddl_command_end execute function catalograph.count_commands();
  alter event trigger catalograph_ddl_command_end enable always;
end $$;

-- event trigger catalograph_sql_drop
do $$ begin
  drop event trigger if exists catalograph_sql_drop;
  create event trigger catalograph_sql_drop on sql_drop execute function catalograph.count_drops();
  alter event trigger catalograph_sql_drop enable always;
end $$;

create schema if not exists catalograph_auth;
create table if not exists catalograph_auth.migrations (
    version integer primary key,
    name text not null,
    applied_at timestamptz not null default now()
  );
-- migration 1 schema auth
do $$ begin
  create role supabase_auth_admin login noinherit createrole;
exception
  when duplicate_object or unique_violation or insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin')
    and not (select rolsuper from pg_catalog.pg_roles where rolname = current_user)
    and current_user <> 'supabase_auth_admin'
  then
    execute format('grant supabase_auth_admin to %I', current_user);
  end if;
exception
  when insufficient_privilege then null;
end $$;

create schema if not exists auth;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then grant usage on schema auth to anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then grant usage on schema auth to authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then grant usage on schema auth to service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant usage on schema auth to postgres; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then grant usage, create on schema auth to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter schema auth owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  create type auth.aal_level as enum ('aal1', 'aal2', 'aal3');
exception
  when duplicate_object then null;
end $$;

do $$ begin
  create type auth.code_challenge_method as enum ('s256', 'plain');
exception
  when duplicate_object then null;
end $$;

do $$ begin
  create type auth.factor_status as enum ('unverified', 'verified');
exception
  when duplicate_object then null;
end $$;

do $$ begin
  create type auth.factor_type as enum ('totp', 'webauthn', 'phone');
exception
  when duplicate_object then null;
end $$;

do $$ begin
  create type auth.one_time_token_type as enum ('confirmation_token', 'reauthentication_token', 'recovery_token', 'email_change_token_new', 'email_change_token_current', 'phone_change_token');
exception
  when duplicate_object then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_attribute where attrelid = pg_catalog.to_regclass('auth.identities')
    and attname = 'id' and atttypid = 'text'::regtype)
  then
    alter table auth.identities rename column id to provider_id;
    alter table auth.identities drop constraint identities_pkey,
      add column id uuid default gen_random_uuid() not null,
      add constraint identities_pkey primary key (id),
      add constraint identities_provider_id_provider_unique unique (provider_id, provider);
  end if;
end $$;

create table if not exists auth.users (
  instance_id uuid,
  id uuid not null,
  aud varchar(255),
  role varchar(255),
  email varchar(255),
  encrypted_password varchar(255),
  email_confirmed_at timestamptz,
  invited_at timestamptz,
  confirmation_token varchar(255),
  confirmation_sent_at timestamptz,
  recovery_token varchar(255),
  recovery_sent_at timestamptz,
  email_change_token_new varchar(255),
  email_change varchar(255),
  email_change_sent_at timestamptz,
  last_sign_in_at timestamptz,
  raw_app_meta_data jsonb,
  raw_user_meta_data jsonb,
  is_super_admin boolean,
  created_at timestamptz,
  updated_at timestamptz,
  phone text default null::varchar,
  phone_confirmed_at timestamptz,
  phone_change text default ''::varchar,
  phone_change_token varchar(255) default ''::varchar,
  phone_change_sent_at timestamptz,
  confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
  email_change_token_current varchar(255) default ''::varchar,
  email_change_confirm_status smallint default 0,
  banned_until timestamptz,
  reauthentication_token varchar(255) default ''::varchar,
  reauthentication_sent_at timestamptz,
  is_sso_user boolean default false not null,
  deleted_at timestamptz,
  is_anonymous boolean default false not null,
  constraint users_pkey primary key (id),
  constraint users_phone_key unique (phone),
  constraint users_email_change_confirm_status_check
      check (email_change_confirm_status >= 0 and email_change_confirm_status <= 2)
);

alter table auth.users add column if not exists instance_id uuid, add column if not exists aud varchar(255), add column if not exists role varchar(255), add column if not exists email varchar(255), add column if not exists encrypted_password varchar(255), add column if not exists email_confirmed_at timestamptz, add column if not exists invited_at timestamptz, add column if not exists confirmation_token varchar(255), add column if not exists confirmation_sent_at timestamptz, add column if not exists recovery_token varchar(255), add column if not exists recovery_sent_at timestamptz, add column if not exists email_change_token_new varchar(255), add column if not exists email_change varchar(255), add column if not exists email_change_sent_at timestamptz, add column if not exists last_sign_in_at timestamptz, add column if not exists raw_app_meta_data jsonb, add column if not exists raw_user_meta_data jsonb, add column if not exists is_super_admin boolean, add column if not exists created_at timestamptz, add column if not exists updated_at timestamptz, add column if not exists phone text default null::varchar, add column if not exists phone_confirmed_at timestamptz, add column if not exists phone_change text default ''::varchar, add column if not exists phone_change_token varchar(255) default ''::varchar, add column if not exists phone_change_sent_at timestamptz, add column if not exists confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored, add column if not exists email_change_token_current varchar(255) default ''::varchar, add column if not exists email_change_confirm_status smallint default 0, add column if not exists banned_until timestamptz, add column if not exists reauthentication_token varchar(255) default ''::varchar, add column if not exists reauthentication_sent_at timestamptz, add column if not exists is_sso_user boolean default false not null, add column if not exists deleted_at timestamptz, add column if not exists is_anonymous boolean default false not null;

create unique index if not exists confirmation_token_idx on auth.users (confirmation_token) where ((confirmation_token)::text !~ '^[0-9 ]*$'::text);

create unique index if not exists recovery_token_idx on auth.users (recovery_token) where ((recovery_token)::text !~ '^[0-9 ]*$'::text);

create unique index if not exists email_change_token_new_idx on auth.users (email_change_token_new) where ((email_change_token_new)::text !~ '^[0-9 ]*$'::text);

create unique index if not exists email_change_token_current_idx on auth.users (email_change_token_current) where ((email_change_token_current)::text !~ '^[0-9 ]*$'::text);

create unique index if not exists reauthentication_token_idx on auth.users (reauthentication_token) where ((reauthentication_token)::text !~ '^[0-9 ]*$'::text);

create unique index if not exists users_email_partial_key on auth.users (email) where (is_sso_user = false);

create index if not exists users_instance_id_idx on auth.users (instance_id);

create index if not exists users_instance_id_email_idx on auth.users (instance_id, lower((email)::text));

create index if not exists users_is_anonymous_idx on auth.users (is_anonymous);

alter table auth.users enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.users from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.users from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.users from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.users to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.users owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.identities (
  provider_id text not null,
  user_id uuid not null,
  identity_data jsonb not null,
  provider text not null,
  last_sign_in_at timestamptz,
  created_at timestamptz,
  updated_at timestamptz,
  email text generated always as (lower((identity_data ->> 'email'::text))) stored,
  id uuid default gen_random_uuid() not null,
  constraint identities_pkey primary key (id),
  constraint identities_provider_id_provider_unique unique (provider_id, provider),
  constraint identities_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade
);

alter table auth.identities add column if not exists last_sign_in_at timestamptz, add column if not exists created_at timestamptz, add column if not exists updated_at timestamptz, add column if not exists email text generated always as (lower((identity_data ->> 'email'::text))) stored, add column if not exists id uuid default gen_random_uuid() not null;

create index if not exists identities_email_idx on auth.identities (email text_pattern_ops);

create index if not exists identities_user_id_idx on auth.identities (user_id);

alter table auth.identities enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.identities from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.identities from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.identities from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.identities to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.identities owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.sessions (
  id uuid not null,
  user_id uuid not null,
  created_at timestamptz,
  updated_at timestamptz,
  factor_id uuid,
  aal auth.aal_level,
  not_after timestamptz,
  refreshed_at timestamp without time zone,
  user_agent text,
  ip inet,
  tag text,
  oauth_client_id uuid,
  refresh_token_hmac_key text,
  refresh_token_counter bigint,
  scopes text,
  constraint sessions_pkey primary key (id),
  constraint sessions_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade
);

alter table auth.sessions add column if not exists created_at timestamptz, add column if not exists updated_at timestamptz, add column if not exists factor_id uuid, add column if not exists aal auth.aal_level, add column if not exists not_after timestamptz, add column if not exists refreshed_at timestamp without time zone, add column if not exists user_agent text, add column if not exists ip inet, add column if not exists tag text, add column if not exists oauth_client_id uuid, add column if not exists refresh_token_hmac_key text, add column if not exists refresh_token_counter bigint, add column if not exists scopes text;

create index if not exists sessions_user_id_idx on auth.sessions (user_id);

create index if not exists user_id_created_at_idx on auth.sessions (user_id, created_at);

create index if not exists sessions_not_after_idx on auth.sessions (not_after desc);

create index if not exists sessions_oauth_client_id_idx on auth.sessions (oauth_client_id);

alter table auth.sessions enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.sessions from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.sessions from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.sessions from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.sessions to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.sessions owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.refresh_tokens (
  instance_id uuid,
  id bigserial not null,
  token varchar(255),
  user_id varchar(255),
  revoked boolean,
  created_at timestamptz,
  updated_at timestamptz,
  parent varchar(255),
  session_id uuid,
  constraint refresh_tokens_pkey primary key (id),
  constraint refresh_tokens_token_unique unique (token),
  constraint refresh_tokens_session_id_fkey foreign key (session_id)
      references auth.sessions(id) on delete cascade
);

alter table auth.refresh_tokens add column if not exists instance_id uuid, add column if not exists token varchar(255), add column if not exists user_id varchar(255), add column if not exists revoked boolean, add column if not exists created_at timestamptz, add column if not exists updated_at timestamptz, add column if not exists parent varchar(255), add column if not exists session_id uuid;

create index if not exists refresh_tokens_instance_id_idx on auth.refresh_tokens (instance_id);

create index if not exists refresh_tokens_instance_id_user_id_idx on auth.refresh_tokens (instance_id, user_id);

create index if not exists refresh_tokens_parent_idx on auth.refresh_tokens (parent);

create index if not exists refresh_tokens_session_id_revoked_idx on auth.refresh_tokens (session_id, revoked);

create index if not exists refresh_tokens_updated_at_idx on auth.refresh_tokens (updated_at desc);

alter table auth.refresh_tokens enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.refresh_tokens from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.refresh_tokens from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.refresh_tokens from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.refresh_tokens to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.refresh_tokens owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.mfa_factors (
  id uuid not null,
  user_id uuid not null,
  friendly_name text,
  factor_type auth.factor_type not null,
  status auth.factor_status not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  secret text,
  phone text,
  last_challenged_at timestamptz,
  web_authn_credential jsonb,
  web_authn_aaguid uuid,
  last_webauthn_challenge_data jsonb,
  constraint mfa_factors_pkey primary key (id),
  constraint mfa_factors_last_challenged_at_key unique (last_challenged_at),
  constraint mfa_factors_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade
);

alter table auth.mfa_factors add column if not exists friendly_name text, add column if not exists secret text, add column if not exists phone text, add column if not exists last_challenged_at timestamptz, add column if not exists web_authn_credential jsonb, add column if not exists web_authn_aaguid uuid, add column if not exists last_webauthn_challenge_data jsonb;

create index if not exists factor_id_created_at_idx on auth.mfa_factors (user_id, created_at);

create unique index if not exists mfa_factors_user_friendly_name_unique on auth.mfa_factors (friendly_name, user_id) where (trim(both from friendly_name) <> '');

create index if not exists mfa_factors_user_id_idx on auth.mfa_factors (user_id);

create unique index if not exists unique_phone_factor_per_user on auth.mfa_factors (user_id, phone);

alter table auth.mfa_factors enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.mfa_factors from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.mfa_factors from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.mfa_factors from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.mfa_factors to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.mfa_factors owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.mfa_challenges (
  id uuid not null,
  factor_id uuid not null,
  created_at timestamptz not null,
  verified_at timestamptz,
  ip_address inet not null,
  otp_code text,
  web_authn_session_data jsonb,
  constraint mfa_challenges_pkey primary key (id),
  constraint mfa_challenges_auth_factor_id_fkey foreign key (factor_id)
      references auth.mfa_factors(id) on delete cascade
);

alter table auth.mfa_challenges add column if not exists verified_at timestamptz, add column if not exists otp_code text, add column if not exists web_authn_session_data jsonb;

create index if not exists mfa_challenge_created_at_idx on auth.mfa_challenges (created_at desc);

alter table auth.mfa_challenges enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.mfa_challenges from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.mfa_challenges from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.mfa_challenges from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.mfa_challenges to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.mfa_challenges owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.mfa_amr_claims (
  session_id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  authentication_method text not null,
  id uuid not null,
  constraint amr_id_pk primary key (id),
  constraint mfa_amr_claims_session_id_authentication_method_pkey
      unique (session_id, authentication_method),
  constraint mfa_amr_claims_session_id_fkey foreign key (session_id)
      references auth.sessions(id) on delete cascade
);

alter table auth.mfa_amr_claims enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.mfa_amr_claims from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.mfa_amr_claims from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.mfa_amr_claims from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.mfa_amr_claims to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.mfa_amr_claims owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.one_time_tokens (
  id uuid not null,
  user_id uuid not null,
  token_type auth.one_time_token_type not null,
  token_hash text not null,
  relates_to text not null,
  created_at timestamp without time zone default now() not null,
  updated_at timestamp without time zone default now() not null,
  constraint one_time_tokens_pkey primary key (id),
  constraint one_time_tokens_token_hash_check check (char_length(token_hash) > 0),
  constraint one_time_tokens_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade
);

alter table auth.one_time_tokens add column if not exists created_at timestamp without time zone default now() not null, add column if not exists updated_at timestamp without time zone default now() not null;

create index if not exists one_time_tokens_relates_to_hash_idx on auth.one_time_tokens using hash (relates_to);

create index if not exists one_time_tokens_token_hash_hash_idx on auth.one_time_tokens using hash (token_hash);

create unique index if not exists one_time_tokens_user_id_token_type_key on auth.one_time_tokens (user_id, token_type);

alter table auth.one_time_tokens enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.one_time_tokens from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.one_time_tokens from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.one_time_tokens from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.one_time_tokens to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.one_time_tokens owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.flow_state (
  id uuid not null,
  user_id uuid,
  auth_code text,
  code_challenge_method auth.code_challenge_method,
  code_challenge text,
  provider_type text not null,
  provider_access_token text,
  provider_refresh_token text,
  created_at timestamptz,
  updated_at timestamptz,
  authentication_method text not null,
  auth_code_issued_at timestamptz,
  invite_token text,
  referrer text,
  oauth_client_state_id uuid,
  linking_target_id uuid,
  email_optional boolean default false not null,
  constraint flow_state_pkey primary key (id)
);

alter table auth.flow_state add column if not exists user_id uuid, add column if not exists auth_code text, add column if not exists code_challenge_method auth.code_challenge_method, add column if not exists code_challenge text, add column if not exists provider_access_token text, add column if not exists provider_refresh_token text, add column if not exists created_at timestamptz, add column if not exists updated_at timestamptz, add column if not exists auth_code_issued_at timestamptz, add column if not exists invite_token text, add column if not exists referrer text, add column if not exists oauth_client_state_id uuid, add column if not exists linking_target_id uuid, add column if not exists email_optional boolean default false not null;

create index if not exists idx_auth_code on auth.flow_state (auth_code);

create index if not exists idx_user_id_auth_method on auth.flow_state (user_id, authentication_method);

create index if not exists flow_state_created_at_idx on auth.flow_state (created_at desc);

alter table auth.flow_state enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.flow_state from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.flow_state from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.flow_state from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.flow_state to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.flow_state owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.audit_log_entries (
  instance_id uuid,
  id uuid not null,
  payload json,
  created_at timestamptz,
  ip_address varchar(64) default ''::varchar not null,
  constraint audit_log_entries_pkey primary key (id)
);

alter table auth.audit_log_entries add column if not exists instance_id uuid, add column if not exists payload json, add column if not exists created_at timestamptz, add column if not exists ip_address varchar(64) default ''::varchar not null;

create index if not exists audit_logs_instance_id_idx on auth.audit_log_entries (instance_id);

alter table auth.audit_log_entries enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.audit_log_entries from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.audit_log_entries from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.audit_log_entries from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.audit_log_entries to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.audit_log_entries owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.schema_migrations (
  version varchar(255) not null,
  constraint schema_migrations_pkey primary key (version)
);

alter table auth.schema_migrations enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.schema_migrations from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.schema_migrations from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.schema_migrations from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.schema_migrations to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.schema_migrations owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

create table if not exists auth.instances (
  id uuid not null,
  uuid uuid,
  raw_base_config text,
  created_at timestamptz,
  updated_at timestamptz,
  constraint instances_pkey primary key (id)
);

alter table auth.instances add column if not exists uuid uuid, add column if not exists raw_base_config text, add column if not exists created_at timestamptz, add column if not exists updated_at timestamptz;

alter table auth.instances enable row level security;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then revoke all on auth.instances from anon; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then revoke all on auth.instances from authenticated; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then revoke all on auth.instances from service_role; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres') then grant select on auth.instances to postgres with grant option; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter table auth.instances owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter type auth.aal_level owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter type auth.code_challenge_method owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter type auth.factor_status owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter type auth.factor_type owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

do $$ begin
  if exists (select from pg_catalog.pg_roles where rolname = 'supabase_auth_admin') then alter type auth.one_time_token_type owner to supabase_auth_admin; end if;
exception
  when insufficient_privilege then null;
end $$;

insert into catalograph_auth.migrations (version, name) values (1, 'schema auth');

-- migration 2 schema catalograph_auth
create table if not exists catalograph_auth.settings (
    name text primary key,
    value text not null,
    updated_at timestamptz not null default now()
  );

create table if not exists catalograph_auth.templates (
    kind text primary key,
    subject text not null,
    html text not null,
    updated_at timestamptz not null default now()
  );

create table if not exists catalograph_auth.settings_version (
    one boolean primary key default true check (one),
    version bigint not null
  );

create table if not exists catalograph_auth.codes (
    user_id uuid not null references auth.users (id) on delete cascade,
    slot text not null,
    salt bytea not null,
    tries smallint not null default 0,
    issued_at timestamptz not null default now(),
    primary key (user_id, slot)
  );

create table if not exists catalograph_auth.totp_steps (
    factor_id uuid primary key references auth.mfa_factors (id) on delete cascade,
    last_step bigint not null default 0,
    failures smallint not null default 0,
    failures_since timestamptz not null default now()
  );

create table if not exists catalograph_auth.ambiguous_passwords (
    user_id uuid primary key references auth.users (id) on delete cascade,
    marked_at timestamptz not null default now()
  );

create table if not exists catalograph_auth.address_proofs (
    user_id uuid primary key references auth.users (id) on delete cascade,
    proof text not null check (proof in ('mailbox', 'autoconfirm', 'admin', 'provider')),
    proved_at timestamptz not null default now()
  );

create table if not exists catalograph_auth.flow_tries (
    flow_id uuid primary key references auth.flow_state (id) on delete cascade,
    tries smallint not null
  );

create table if not exists catalograph_auth.cooldowns (
    kind text not null,
    address_hash bytea not null,
    sent_at timestamptz not null,
    primary key (kind, address_hash)
  );

create table if not exists catalograph_auth.throttles (
    limit_group text not null,
    source text not null,
    tokens double precision not null,
    updated_at timestamptz not null,
    primary key (limit_group, source)
  );

create table if not exists catalograph_auth.bans (
    source text primary key,
    failures integer not null default 0,
    window_began timestamptz not null,
    banned_until timestamptz
  );

create table if not exists catalograph_auth.outbox (
    id bigint generated always as identity primary key,
    kind text not null,
    recipient text not null,
    subject text not null,
    html text not null,
    created_at timestamptz not null default now(),
    attempts smallint not null default 0,
    accepted_at timestamptz,
    failure text
  );

create table if not exists catalograph_auth.accepted_mails (
    id bigint generated always as identity primary key,
    accepted_at timestamptz not null default now()
  );

create index if not exists accepted_mails_accepted_at_idx on catalograph_auth.accepted_mails (accepted_at);

create index if not exists bans_banned_until_idx on catalograph_auth.bans (banned_until) where banned_until is not null;

insert into catalograph_auth.settings_version (version) values (1) on conflict do nothing;

create or replace function catalograph_auth.count_settings() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  update catalograph_auth.settings_version set version = version + 1;
  return null;
end $$;

create or replace trigger count_settings
  after insert or update or delete or truncate on catalograph_auth.settings
  for each statement execute function catalograph_auth.count_settings();

create or replace trigger count_settings
  after insert or update or delete or truncate on catalograph_auth.templates
  for each statement execute function catalograph_auth.count_settings();

do $$ begin
    alter table catalograph_auth.settings owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.templates owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.settings_version owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.codes owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.totp_steps owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.ambiguous_passwords owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.address_proofs owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.flow_tries owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.cooldowns owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.throttles owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.bans owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.outbox owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter table catalograph_auth.accepted_mails owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter function catalograph_auth.count_settings() owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

do $$ begin
    alter schema catalograph_auth owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

insert into catalograph_auth.migrations (version, name) values (2, 'schema catalograph_auth');

-- migration 3 requests for mails
create table catalograph_auth.mail_requests (
    id bigint generated always as identity primary key,
    kind text not null,
    request jsonb not null,
    created_at timestamptz not null default now(),
    taken_at timestamptz not null default now()
  );

do $$ begin
    alter table catalograph_auth.mail_requests owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

insert into catalograph_auth.migrations (version, name) values (3, 'requests for mails');

-- migration 4 windows of guests
create table catalograph_auth.guest_windows (
    source text primary key,
    taken timestamptz[] not null,
    updated_at timestamptz not null default now()
  );

do $$ begin
    alter table catalograph_auth.guest_windows owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

delete from catalograph_auth.throttles where limit_group = 'guests';

insert into catalograph_auth.migrations (version, name) values (4, 'windows of guests');

-- migration 5 sessions of recoveries
create table catalograph_auth.recovery_sessions (
    session_id uuid primary key references auth.sessions (id) on delete cascade
  );

do $$ begin
    alter table catalograph_auth.recovery_sessions owner to supabase_auth_admin;
  exception
    when undefined_object or insufficient_privilege then null;
  end $$;

insert into catalograph_auth.migrations (version, name) values (5, 'sessions of recoveries');

