import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { defineAction } from './define.ts'

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

export interface Cooldown {
  readonly kind: string
  readonly addressHash: Buffer
}

/** A started cooldown, in JSON form. */
export interface Begun {
  readonly kind: string
  /** Keyed hash of the address, in hex. */
  readonly address: string
  readonly sentAt: string
}

export type CooldownVerdict =
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
