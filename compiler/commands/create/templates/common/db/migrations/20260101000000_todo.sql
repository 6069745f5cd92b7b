-- migrate:up

comment on schema public is '@graphql({"inflect_names": true})';

create table public.todo (
  id uuid primary key default gen_random_uuid(),
  owner uuid not null default auth.uid() references auth.users on delete cascade,
  title text not null check (length(title) between 1 and 200),
  done boolean not null default false,
  created_at timestamptz not null default now()
);

-- The order of the lists, for each owner.
create index on public.todo (owner, created_at);
create index on public.todo (created_at);

comment on table public.todo is '@graphql({"live": {"enabled": true}})';

-- Grants decide which columns a role sees and writes; the policy decides which rows. Without both there is nothing.
alter table public.todo enable row level security;

create policy own_rows on public.todo to authenticated
  using (owner = (select auth.uid()))
  with check (owner = (select auth.uid()));

grant usage on schema public to authenticated;
grant select (id, title, done, created_at), insert (id, title, done), update (title, done), delete on public.todo
  to authenticated;

-- migrate:down

drop table public.todo;
