/**
 * The database under siege: what honest callers read and write, and what attackers use of it. Whatever an attacker runs
 * shows its mark: a function holds it as a lock, a document as an alias, both of which other sessions can see.
 */

/** First key of the advisory locks that are marks. */
export const markClass = 7_341
/** Of the locks that are left behind on purpose. */
export const litterClass = 7_342

export const articleCount = 3_000
/** Honest users, each with rows that no other user sees. */
export const personCount = 6
export const boardsEach = 10
export const cardsEach = 5
export const remarksEach = 4

/** Rows that honest streams watch. */
export const pulseCount = 1_000

/** The id of a person, from 0 on. */
export const personId = (index: number): string => `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`

const owned = (table: string): string => `
  alter table ${table} enable row level security;
  create policy own on ${table} to authenticated using (owner = (select auth.uid()));
  grant select, insert on ${table} to authenticated;
  grant all on ${table} to service_role;`

const honest = `
  create table articles (id int primary key, title text not null, body text not null);
  insert into articles select n, 'Article ' || n, repeat('A sentence of article ' || n || '. ', 6)
    from generate_series(1, ${articleCount}) n;
  grant select on articles to anon, authenticated, service_role;

  create table boards (id int primary key, owner uuid not null, name text not null);
  create table cards (id int primary key, board_id int not null references boards, owner uuid not null,
    name text not null);
  create table remarks (id int primary key, card_id int not null references cards, owner uuid not null,
    body text not null);
  insert into boards select n, ('00000000-0000-4000-8000-' || lpad(((n - 1) / ${boardsEach} + 1)::text, 12, '0'))::uuid,
    'Board ' || n from generate_series(1, ${personCount * boardsEach}) n;
  insert into cards select n, b.id, b.owner, 'Card ' || n
    from generate_series(1, ${personCount * boardsEach * cardsEach}) n
    join boards b on b.id = (n - 1) / ${cardsEach} + 1;
  insert into remarks select n, c.id, c.owner, 'Remark ' || n
    from generate_series(1, ${personCount * boardsEach * cardsEach * remarksEach}) n
    join cards c on c.id = (n - 1) / ${remarksEach} + 1;
  create index on boards (owner); create index on cards (board_id); create index on remarks (card_id);

  create table ledger (id bigint generated always as identity primary key, token text not null, owner uuid not null,
    amount int not null);
  create index on ledger (token);
  ${['boards', 'cards', 'remarks', 'ledger'].map(owned).join('')}

  create table pulses (id int primary key, beat int not null);
  comment on table pulses is '@graphql({"live": {"enabled": true}})';
  insert into pulses select n, 0 from generate_series(1, ${pulseCount}) n;
  grant select on pulses to authenticated;

  create function whoami() returns text language plpgsql stable as $$ begin
    return json_build_array(current_user, current_setting('request.jwt.claims', true)::json ->> 'sub',
      coalesce(current_setting('siege.taint', true), ''), current_setting('search_path'), current_setting('TimeZone'),
      current_setting('statement_timeout'), current_setting('work_mem'),
      (select count(*) from pg_catalog.pg_class where relnamespace = pg_my_temp_schema()),
      (select count(*) from pg_catalog.pg_locks where pid = pg_backend_pid() and locktype = 'advisory'),
      (select count(*) from pg_listening_channels())); end $$;
`

const mark = `perform pg_advisory_xact_lock_shared(${markClass}, mark)`

/** Every function takes the mark of anyone who calls it. */
const functions = `
  create function nap(seconds float8, mark int) returns int language plpgsql stable as
    $$ begin ${mark}; perform pg_sleep(seconds); return mark; end $$;
  create function doze(seconds float8, mark int) returns int language plpgsql volatile as
    $$ begin ${mark}; perform pg_sleep(seconds); return mark; end $$;
  create function trace(mark int) returns int language plpgsql volatile as
    $$ begin ${mark}; insert into traces values (mark); return mark; end $$;
  create function spin(rounds int, mark int) returns int language plpgsql stable as $$ declare sum bigint := 0; begin
    ${mark}; for n in 1..rounds loop sum := sum + n; end loop; return mark; end $$;
  create function stubborn(seconds float8, mark int) returns int language plpgsql stable as $$
    declare until timestamptz := clock_timestamp() + seconds * interval '1 second'; begin
    ${mark};
    while clock_timestamp() < until loop begin
      perform pg_sleep(extract(epoch from until - clock_timestamp())); exception when query_canceled then null;
    end; end loop; return mark; end $$;
  create function big(size int, mark int) returns text language plpgsql stable as
    $$ begin ${mark}; return repeat('x', size); end $$;
  create function chatter(count int, mark int) returns int language plpgsql stable as
    $$ begin ${mark}; for n in 1..count loop raise warning '%', repeat('notice ', 40); end loop; return mark; end $$;
  create function litter(mark int) returns text language plpgsql volatile as $$ begin
    ${mark};
    perform set_config('siege.taint', 'tainted', false), set_config('TimeZone', 'Asia/Kolkata', false),
      set_config('statement_timeout', '1', false), set_config('work_mem', '64kB', false),
      set_config('search_path', 'pg_temp', false), set_config('request.jwt.claims', '{"role":"service_role"}', false);
    perform pg_advisory_lock(${litterClass}, mark);
    create temp table if not exists articles (id int, title text); create temp table if not exists litter (id int);
    listen siege; perform set_config('role', 'service_role', false);
    return current_user; end $$;

  create table traces (mark int not null);
  grant insert, select on traces to anon, authenticated, service_role;
`

const moving = [0, 1, 2, 3]
  .map((n) => `create table moving_${n} (id int primary key, name text); grant select on moving_${n} to anon;`)
  .join(' ')

/** Thirty of one, nine hundred of the other: five levels of them are twenty million rows. */
const tangle = `
  create table spots (id int primary key, name text);
  create table ways (id int primary key, origin int not null references spots, target int not null references spots,
    note text);
  comment on constraint ways_origin_fkey on ways is '@graphql({"local_name": "outs", "foreign_name": "from"})';
  comment on constraint ways_target_fkey on ways is '@graphql({"local_name": "ins", "foreign_name": "to"})';
  insert into spots select n, 'spot ' || n from generate_series(1, 30) n;
  insert into ways select n, 1 + (n - 1) / 30, 1 + n % 30, 'way ' || n from generate_series(1, 900) n;
  grant select on spots, ways to anon, authenticated, service_role;
  create table bags (id int primary key, tags text[], body jsonb);
  insert into bags select n, array_agg('tag ' || e), jsonb_agg('tag ' || e)
    from generate_series(1, 20) n, generate_series(1, 5000) e group by n;
  grant select on bags to anon, authenticated, service_role;
  comment on table bags is '@graphql({"jsonFilters": {"enabled": true}})';
  create table changing (id int primary key, name text);
  insert into changing select n, 'row ' || n from generate_series(1, 50) n;
  grant all on changing to anon, authenticated, service_role;
  ${moving}
  create table on_full_disk (body text not null, id bigint generated always as identity);
  alter table on_full_disk add primary key (id);
  grant all on on_full_disk to anon, authenticated, service_role;
  create table channels (id int primary key, name text);
  create function heavy(one channels) returns bigint language sql stable as
    'select count(*) from generate_series(1, 30000) a, generate_series(1, 30000) b';
  comment on table channels is '@graphql({"live": {"enabled": true}})';
  insert into channels select n, 'channel ' || n from generate_series(1, 60) n;
  create table locked (id int primary key);
  comment on table locked is '@graphql({"live": {"enabled": true}})';
  insert into locked select generate_series(1, 1000);
  grant select on channels, locked to anon, authenticated, service_role;
`

export const schemaSql = `
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
  grant usage on schema public to anon, authenticated, service_role;
  ${honest}${functions}${tangle}
  analyze;
`
