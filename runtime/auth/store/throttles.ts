import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { Bucket, LimitGroup, Taken } from '../rules/rate-limits.ts'
import { defineList, defineAction } from './define.ts'

/**
 * catalograph_auth.throttles, guest_windows and bans: the common counts of all processes (spec/auth.md 10). Counting
 * does not wait for the disk: a crash of the database may lose the last moments of it (manual, synchronous_commit), a
 * restart loses nothing.
 */

const noWait = `with quick as materialized (select set_config('synchronous_commit', 'off', true))`

/** The refilled row `t`. $3 burst, $4 tokens per second. */
const filled = `least($3::float8, t.tokens
    + greatest(0, extract(epoch from clock_timestamp() - t.updated_at))::float8 * $4::float8)`

/** $1 group, $2 source, $5 the owed calls. If there are fewer tokens, none is taken. */
const take = statement<{ readonly left: number; readonly granted: boolean }>(
  'auth.throttles.take',
  `${noWait}, taken as (
    insert into catalograph_auth.throttles as t (limit_group, source, tokens, updated_at)
    select $1, $2, $3::float8 - $5::float8, clock_timestamp() from quick
    on conflict (limit_group, source) do update set tokens = ${filled} - $5::float8, updated_at = clock_timestamp()
    where ${filled} >= $5::float8
    returning t.tokens
  )
  select tokens as left, true as granted from taken
  union all
  select ${filled}, false from catalograph_auth.throttles t
  where t.limit_group = $1 and t.source = $2 and not exists (select from taken)`,
)

const since = 'clock_timestamp() - make_interval(secs => $3::float8)'

/** Null: there were fewer than $2. */
const untilFree = `extract(epoch from w.taken[cardinality(w.taken) - $2::int + 1] - (${since}))::float8`

/**
 * $1 source, $2 maximum, $3 seconds. The times are an ordered array in one row, which the first call locks: concurrent
 * calls see all entries. If all places are taken, one becomes free with the $2-th time from the end.
 */
const takeInWindow = statement<{ readonly granted: boolean; readonly seconds: number | null }>(
  'auth.throttles.take-within',
  `${noWait}, taken as (
    insert into catalograph_auth.guest_windows as w (source, taken)
    select $1, array[clock_timestamp()] from quick
    on conflict (source) do update set updated_at = now(),
      taken = array(select t from unnest(w.taken) t where t > ${since} order by t) || clock_timestamp()
    where (select count(*) from unnest(w.taken) t where t > ${since}) < $2::int
    returning 1
  )
  select true as granted, null::float8 as seconds from taken
  union all
  select false, ${untilFree} from catalograph_auth.guest_windows w
  where w.source = $1 and not exists (select from taken)`,
)

/** The same seconds without an entry. */
const freeInWindow = statement<{ readonly seconds: number | null }>(
  'auth.throttles.free-within',
  `select ${untilFree} as seconds from catalograph_auth.guest_windows w where w.source = $1`,
)

/** $1 source, $2 threshold, $3 window, $4 duration, in seconds. A blocked address is not counted further. */
const fail = statement<{ readonly seconds: number | null }>(
  'auth.throttles.fail',
  `${noWait}
  insert into catalograph_auth.bans as b (source, failures, window_began, banned_until)
  select $1, 1, now(), case when $2::int <= 1 then now() + $4 * interval '1 second' end from quick
  on conflict (source) do update set
    failures = case when b.window_began < now() - $3 * interval '1 second' or b.banned_until is not null
      then 1 else b.failures + 1 end,
    window_began = case when b.window_began < now() - $3 * interval '1 second' or b.banned_until is not null
      then now() else b.window_began end,
    banned_until = case when $2::int <= 1 or (b.failures + 1 >= $2::int and b.banned_until is null
      and b.window_began >= now() - $3 * interval '1 second') then now() + $4 * interval '1 second' end
  where b.banned_until is null or b.banned_until <= now()
  returning extract(epoch from banned_until - now())::float8 as seconds`,
)

/** Takes the owed calls of a source out of its bucket, or nothing if they are too many. */
export const takeTokens = async (
  run: RunStatement,
  group: LimitGroup,
  source: string,
  { burst, perSecond }: Bucket,
  owed: number,
): Promise<Taken> => (await run(take, [group, source, burst, perSecond, owed]))[0] ?? { granted: false, left: 0 }

/** Takes one place of a sliding window; null, or the seconds until one becomes free. */
export const takeWithin = async (
  run: RunStatement,
  source: string,
  most: number,
  seconds: number,
): Promise<number | null> => {
  const [row] = await run(takeInWindow, [source, most, seconds])
  if (row?.granted === true) return null
  if (row !== undefined && row.seconds !== null) return row.seconds
  // A call that waited for concurrent ones was refused because of their entries, but sees the row of its own snapshot.
  return (await run(freeInWindow, [source, most, seconds]))[0]?.seconds ?? 1
}

interface BanRule {
  readonly ban_threshold: number
  readonly ban_window: number
  readonly ban_duration: number
}

/** Counts a failure of a source; returns the seconds for which it is blocked, or null. */
export const countFailure = async (run: RunStatement, source: string, rule: BanRule): Promise<number | null> =>
  (await run(fail, [source, rule.ban_threshold, rule.ban_window, rule.ban_duration]))[0]?.seconds ?? null

/** Every blocked source, with the remaining seconds. */
export const listClosed = defineList<{ readonly source: string; readonly seconds: number }, []>(
  'auth.throttles.closed',
  `select source, extract(epoch from banned_until - now())::float8 as seconds from catalograph_auth.bans
  where banned_until > now()`,
)

/** catalograph_auth.cooldowns: when a mail of a kind was last sent to an address (spec/auth.md 4.11). */

const begin = statement<{ readonly sent_at: string }>(
  'auth.cooldowns.begin',
  `insert into catalograph_auth.cooldowns as c (kind, address_hash, sent_at) values ($1, $2, clock_timestamp())
  on conflict (kind, address_hash) do update set sent_at = clock_timestamp()
    where c.sent_at <= clock_timestamp() - make_interval(secs => $3)
  returning sent_at::text`,
)

const remaining = statement<{ readonly seconds: number }>(
  'auth.cooldowns.remaining',
  `select greatest(1, ceil($3 - extract(epoch from clock_timestamp() - sent_at)))::int as seconds
  from catalograph_auth.cooldowns where kind = $1 and address_hash = $2`,
)

interface Cooldown {
  readonly kind: string
  readonly addressHash: Buffer
}

export interface Begun {
  readonly kind: string
  /** Keyed hash of the address, in hex. */
  readonly address: string
  readonly sentAt: string
}

type CooldownVerdict =
  | { readonly kind: 'begun'; readonly sentAt: string }
  | { readonly kind: 'waiting'; readonly seconds: number }

/** Starts one, unless the previous one still lasts. */
export const beginCooldown = async (
  run: RunStatement,
  { kind, addressHash }: Cooldown,
  seconds: number,
): Promise<CooldownVerdict> => {
  const [begun] = await run(begin, [kind, addressHash, seconds])
  if (begun !== undefined) return { kind: 'begun', sentAt: begun.sent_at }
  const [left] = await run(remaining, [kind, addressHash, seconds])
  return { kind: 'waiting', seconds: left?.seconds ?? 1 }
}

/** Removes exactly the one that started at that time. */
export const endCooldown = defineAction<[cooldown: Cooldown, sentAt: string]>(
  'auth.cooldowns.end',
  'delete from catalograph_auth.cooldowns where kind = $1 and address_hash = $2 and sent_at = $3::timestamptz',
  ({ kind, addressHash }, sentAt) => [kind, addressHash, sentAt],
)
