-- Beside the blog: rows that are changed by key, by operators and many at once.

create table counters (id int primary key, name text not null, hits int not null default 0, tags text[] not null, state jsonb not null)
  with (fillfactor = 50);
insert into counters select n, 'Counter ' || n, 0, array['a', 'b'], jsonb_build_object('n', n, 'on', true) from generate_series(1, 20000) n;
comment on table counters is '@graphql({"updates": {"enabled": true}})';
grant select, update on counters to authenticated;
