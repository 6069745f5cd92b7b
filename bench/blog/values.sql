-- Beside the blog: values whose filters additions bring, without policies, so that their indexes serve.

create table devices (id int primary key, state jsonb not null);
insert into devices select n, jsonb_build_object(
  'site', jsonb_build_object('city', 'City ' || n % 5000), 'load', n % 997 / 997.0, 'tags', jsonb_build_array('t' || n % 3001, 'all'))
from generate_series(1, 100000) n;
create index on devices using gin (state jsonb_path_ops);
create index on devices ((state #>> '{site,city}'), id);
comment on table devices is '@graphql({"jsonFilters": {"enabled": true}})';
grant select on devices to anon, authenticated;
