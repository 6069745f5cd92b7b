-- Beside the blog: groups of its posts, and values whose filters additions bring, without policies, so that their indexes serve.

comment on table posts is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}, "groups": {"enabled": true}, "max_rows": 1000,
  "polymorphism": {"collections": ["Written"]}})';
comment on table comments is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}, "groups": {"enabled": true}, "max_rows": 1000,
  "links": {"replied": ["post", "author"]}, "polymorphism": {"collections": ["Written"]}})';
create index on comments (created_at desc, id);

comment on table users is '@graphql({"uniqueKeys": {"enabled": true}})';

create table labels (id int primary key, name text not null);
create table post_labels (post_id int not null references posts, label_id int not null references labels, note text not null, primary key (post_id, label_id));
insert into labels select n, 'label ' || n from generate_series(1, 1000) n;
insert into post_labels select id, 1 + (id * 7 + n * 131) % 1000, 'note ' || n from posts, generate_series(0, 3) n;
create index on post_labels (label_id, post_id);
comment on table labels is '@graphql({"links": {"writers": ["postLabelsCollection", "post", "author"]}})';
comment on table post_labels is '@graphql({"manyToMany": {"enabled": true}})';
grant select on labels, post_labels to anon, authenticated;

create table pins (id int primary key, post_id int references posts, label_id int references labels);
insert into pins select id, case when id % 2 = 0 then id end, case when id % 2 = 1 then 1 + id % 1000 end from posts;
comment on table pins is '@graphql({"polymorphism": {"unions": {"target": ["post", "label"]}}})';
grant select on pins to anon, authenticated;

create table devices (id int primary key, state jsonb not null);
insert into devices select n, jsonb_build_object(
  'site', jsonb_build_object('city', 'City ' || n % 5000), 'load', n % 997 / 997.0, 'tags', jsonb_build_array('t' || n % 3001, 'all'))
from generate_series(1, 100000) n;
create index on devices using gin (state jsonb_path_ops);
create index on devices ((state #>> '{site,city}'), id);
comment on table devices is '@graphql({"jsonFilters": {"enabled": true}})';
grant select on devices to anon, authenticated;

create extension if not exists pg_trgm;
create extension if not exists ltree;

create table notes (id int primary key, bound int not null, laps int[] not null, path ltree not null, title text not null, body tsvector not null, during int4range not null, address inet not null);
insert into notes select n, n + n % 3 - 1, array[n % 3001, n % 97 + 5000], ('p' || n % 97 || '.q' || n % 3001)::ltree, 'note w' || n % 3001 || ' of v' || n % 97, to_tsvector('simple', 'w' || n % 3001 || ' v' || n % 97),
  int4range(n, n + 10), '10.0.0.0'::inet + n
from generate_series(1, 100000) n;
create index on notes using gin (to_tsvector('simple', title));
create index on notes using gin (body);
create index on notes (lower(title));
create index on notes using gin (title gin_trgm_ops);
create index on notes using gist (path);
create index on notes using gin (laps);
create index on notes using gist (during);
create index on notes using gist (address inet_ops);
comment on table notes is '@graphql({"search": {"enabled": true}, "rangeFilters": {"enabled": true}, "networkFilters": {"enabled": true}, "textFilters": {"enabled": true}, "ltreeFilters": {"enabled": true}, "arrayFilters": {"enabled": true}, "columnFilters": {"enabled": true}})';
grant select on notes to anon, authenticated;

create table papers (
  id int primary key, parent_id int references papers, title text not null, deleted_at timestamptz
);
insert into papers select n, case when n > 100 then n % 100 + 1 end, 'Paper ' || n, case when n % 3 = 0 then now() end
  from generate_series(1, 60000) n;
create index on papers (parent_id, id) where deleted_at is null;
comment on table papers is '@graphql({"softDelete": "deleted_at"})';
grant select on papers to authenticated;

create table letters (id int primary key, title text not null, sent date not null, spam bool not null);
insert into letters select n, 'Letter ' || n % 5000, '2024-01-01'::date + n * 7 % 1000, n % 5 = 0 from generate_series(1, 60000) n;
create index on letters (sent desc, id) where not spam;
create index on letters (title, sent desc, id) where not spam;
comment on table letters is '@graphql({"defaultOrder": [{"sent": "DescNullsLast"}], "defaultFilter": {"spam": {"eq": false}}, "oneOf": {"enabled": true}})';
grant select on letters to authenticated;

comment on schema public is '@graphql({
  "inflect_names": true, "relationFilters": {"enabled": true}, "orderByRelated": {"enabled": true},
  "domains": {"enabled": true}, "composites": {"enabled": true}, "functionShapes": {"enabled": true},
  "allowlist": {"table": "private.documents", "roles": ["anon"]}
})';

create type tone as enum ('calm', 'loud', 'low');
create domain word as text check (length(value) < 80);
create type place as (city text, zip text);
create table goods (id int primary key, kind int not null, label word not null, tones tone[] not null, home place not null);
insert into goods select n, n * 7 % 2000, 'Good ' || n % 5000, array[(array['calm', 'loud', 'low'])[n % 3 + 1]::tone],
  row('City ' || n % 500, 'Zip ' || n)::place from generate_series(1, 60000) n;
create index on goods (kind, id desc);
create index on goods (label, id);
create function half(goods) returns int language sql immutable as 'select $1.kind / 2';
create index on goods ((kind / 2), id);
comment on table goods is '@graphql({"distinctOn": {"enabled": true}, "enumArrays": {"enabled": true}})';
grant select on goods to authenticated;
