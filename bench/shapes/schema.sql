-- Beside the blog: a table of sixty columns, a row with ten relations, and a chain of six levels.

do $$
begin
  execute (select 'create table wide (id int primary key, ' || string_agg(
    format('c%s %s', n, (array['text', 'int', 'numeric(10,2)', 'timestamptz', 'bool', 'jsonb'])[1 + n % 6]), ', ' order by n)
    || ')' from generate_series(1, 59) n);
  execute (select 'insert into wide select n, ' || string_agg((array[
    $v$'text ' || n$v$, 'n', 'n / 3.0', $v$'2024-01-01'::timestamptz + n * interval '1 minute'$v$, 'n % 3 = 0',
    $v$jsonb_build_object('n', n)$v$])[1 + c % 6], ', ' order by c) || ' from generate_series(1, 5000) n'
    from generate_series(1, 59) c);
end $$;

create table hubs (id int primary key, name text not null);
insert into hubs select n, 'Hub ' || n from generate_series(1, 500) n;

do $$
begin
  for spoke in 1 .. 10 loop
    execute format('create table spoke%1$s (id int primary key, hub_id int not null references hubs, name text not null);
      insert into spoke%1$s select n, 1 + n %% 500, ''Spoke %1$s '' || n from generate_series(1, 5000) n;
      create index on spoke%1$s (hub_id, id)', spoke);
  end loop;
end $$;

create table level1 (id int primary key, name text not null);
insert into level1 select n, 'Level 1 ' || n from generate_series(1, 10) n;

do $$
begin
  for level in 2 .. 6 loop
    execute format('create table level%1$s (id int primary key, parent_id int not null references level%2$s, name text not null);
      insert into level%1$s select n, 1 + n %% (select count(*)::int from level%2$s), ''Level %1$s '' || n
        from generate_series(1, 10 * (4 ^ (%1$s - 1))::int) n;
      create index on level%1$s (parent_id, id)', level, level - 1);
  end loop;
end $$;

create index on comments using btree (body text_pattern_ops);
create index on wide (c1);
grant select on all tables in schema public to anon, authenticated;
