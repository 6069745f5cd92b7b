/**
 * Schema `catalograph_auth`: state beyond the tables that existing projects have (spec/auth.md 13). Only its owner has
 * privileges on it.
 */

const userReference = 'uuid primary key references auth.users (id) on delete cascade'

const tables: Readonly<Record<string, string>> = {
  /** The owner's settings, as text; an absent setting has its default. */
  settings: `(
    name text primary key,
    value text not null,
    updated_at timestamptz not null default now()
  )`,
  templates: `(
    kind text primary key,
    subject text not null,
    html text not null,
    updated_at timestamptz not null default now()
  )`,
  /** One row, incremented by every change of the two tables above: processes compare it with their cache. */
  settings_version: `(
    one boolean primary key default true check (one),
    version bigint not null
  )`,
  /** The secret part of each mailed code, and its number of guesses (spec/auth.md 9.2). */
  codes: `(
    user_id uuid not null references auth.users (id) on delete cascade,
    slot text not null,
    salt bytea not null,
    tries smallint not null default 0,
    issued_at timestamptz not null default now(),
    primary key (user_id, slot)
  )`,
  /** The last time step in which a factor accepted a code, and recent failures (spec/auth.md 5.7). */
  totp_steps: `(
    factor_id uuid primary key references auth.mfa_factors (id) on delete cascade,
    last_step bigint not null default 0,
    failures smallint not null default 0,
    failures_since timestamptz not null default now()
  )`,
  /** Unconfirmed accounts whose sign-ups had different passwords (spec/auth.md 4.2). */
  ambiguous_passwords: `(
    user_id ${userReference},
    marked_at timestamptz not null default now()
  )`,
  /** How an account's address was confirmed; an account without a row counts as proved (spec/auth.md 6.5). */
  address_proofs: `(
    user_id ${userReference},
    proof text not null check (proof in ('mailbox', 'autoconfirm', 'admin', 'provider')),
    proved_at timestamptz not null default now()
  )`,
  /** Wrong verifiers for a flow's code (spec/auth.md 6.4). */
  flow_tries: `(
    flow_id uuid primary key references auth.flow_state (id) on delete cascade,
    tries smallint not null
  )`,
  /** The last mail of a kind to an address, which is stored as a keyed hash (spec/auth.md 4.11). */
  cooldowns: `(
    kind text not null,
    address_hash bytea not null,
    sent_at timestamptz not null,
    primary key (kind, address_hash)
  )`,
  /** Token buckets of the limits (spec/auth.md 10). */
  throttles: `(
    limit_group text not null,
    source text not null,
    tokens double precision not null,
    updated_at timestamptz not null,
    primary key (limit_group, source)
  )`,
  /** Blocked source addresses, and the failures that lead to blocking (spec/auth.md 10). */
  bans: `(
    source text primary key,
    failures integer not null default 0,
    window_began timestamptz not null,
    banned_until timestamptz
  )`,
  /**
   * Mails, inserted in the transaction of their subject; accepted by the mail server, kept for the owner, or still to
   * be sent.
   */
  outbox: `(
    id bigint generated always as identity primary key,
    kind text not null,
    recipient text not null,
    subject text not null,
    html text not null,
    created_at timestamptz not null default now(),
    attempts smallint not null default 0,
    accepted_at timestamptz,
    failure text
  )`,
  /** When the mail server accepted a mail: the count for the project's ceiling (spec/auth.md 4.11). */
  accepted_mails: `(
    id bigint generated always as identity primary key,
    accepted_at timestamptz not null default now()
  )`,
}

const schema = 'catalograph_auth'

const bumpFunction = `create or replace function ${schema}.count_settings() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  update ${schema}.settings_version set version = version + 1;
  return null;
end $$`

const bumpTrigger = (table: string): string => `create or replace trigger count_settings
  after insert or update or delete or truncate on ${schema}.${table}
  for each statement execute function ${schema}.count_settings()`

export const stateSchema: readonly string[] = [
  ...Object.entries(tables).map(([name, body]) => `create table if not exists ${schema}.${name} ${body}`),
  `create index if not exists accepted_mails_accepted_at_idx on ${schema}.accepted_mails (accepted_at)`,
  `create index if not exists bans_banned_until_idx on ${schema}.bans (banned_until) where banned_until is not null`,
  `insert into ${schema}.settings_version (version) values (1) on conflict do nothing`,
  bumpFunction,
  ...['settings', 'templates'].map(bumpTrigger),
]
