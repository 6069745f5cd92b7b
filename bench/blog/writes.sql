-- Beside the blog: rows that are changed by key, by operators and many at once, and rows that are added with related ones.

create table counters (id int primary key, name text not null, hits int not null default 0, tags text[] not null, state jsonb not null)
  with (fillfactor = 50);
insert into counters select n, 'Counter ' || n, 0, array['a', 'b'], jsonb_build_object('n', n, 'on', true) from generate_series(1, 20000) n;
comment on table counters is '@graphql({"updates": {"enabled": true}})';
grant select, update on counters to authenticated;

create table orders (id bigint generated always as identity primary key, place text not null);
create table items (
  id bigint generated always as identity primary key, order_id bigint not null references orders, label text not null
);
insert into orders (place) select 'Place ' || n from generate_series(1, 20000) n;
insert into items (order_id, label) select n % 20000 + 1, 'Item ' || n from generate_series(1, 40000) n;
comment on table orders is '@graphql({"nestedWrites": {"enabled": true}, "updates": {"enabled": true}})';
comment on table items is '@graphql({"updates": {"enabled": true}})';
grant select, insert, update on orders, items to authenticated;

create table notices (id bigint generated always as identity primary key, author_id int not null, body text not null);
comment on table notices is '@graphql({"preset": {"authenticated": {"author_id": "public.me()"}}})';
grant select, insert on notices to authenticated;

create table tallies (id int primary key, name text not null) with (fillfactor = 50);
insert into tallies select n, 'Tally ' || n from generate_series(1, 20000, 2) n;
comment on table tallies is '@graphql({"upsert": {"enabled": true}})';
grant select, insert, update on tallies to authenticated;
