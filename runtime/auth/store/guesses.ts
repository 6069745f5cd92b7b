/**
 * Counts of wrong guesses between two right ones (spec/auth.md 4.4 and 5.7), in two tables of one form: the subject,
 * whether the devices are known, the number of guesses, and the time of the last. A guess is reserved by a separate
 * statement, never in a transaction that may be rolled back: it stays reserved.
 */
interface Counts {
  /** In schema catalograph_auth. */
  readonly table: string
  /** Its column of the subject: an address or a factor. */
  readonly subject: string
  /** The number of guesses without a pause. */
  readonly free: number
}

/** Of all unknown devices together, and of all known ones: 100 (NIST SP 800-63B, 3.2.2). */
const [mostOfStrangers, mostOfKnown] = [80, 20]
const day = 86_400

export interface TakenGuess {
  readonly granted: boolean
  /** Whether it counts for the known devices. */
  readonly known: boolean
  /** Until the next guess; a day if unknown devices have none left. */
  readonly seconds: number
  /** Others were reserved in the last seconds, and may still be given back. */
  readonly busy: boolean
}

/** Parts of statements about counts; $2 is the subject. */
export function guessesIn({ table, subject, free }: Counts) {
  const counts = `catalograph_auth.${table}`
  const isOver = `not g.known and g.failures >= ${mostOfStrangers}`
  // One more minute each time. Known devices may continue once a day.
  const dueAt = `g.last_at + make_interval(secs => case
      when g.known and g.failures >= ${mostOfKnown} then ${day} else greatest(0, g.failures - ${free - 1}) * 60 end)`
  return {
    /** Reserves one for `asking`, whose column `known` selects the count. */
    taken: `taken as (
    insert into ${counts} as g (${subject}, known, failures, last_at)
    select $2, known, 1, clock_timestamp() from asking
    on conflict (${subject}, known) do update set failures = g.failures + 1, last_at = clock_timestamp()
    where not (${isOver}) and ${dueAt} <= clock_timestamp()
    returning 1
  )`,
    /**
     * Columns of a TakenGuess. The refusing row may be newer than this statement's snapshot: then it is missing, or
     * due, and the first pause is reported.
     */
    verdict: `exists (select from taken) as granted, asking.known, coalesce(seconds, 60) as seconds,
    coalesce(busy, true) as busy
  from asking left join lateral (
    select nullif(greatest(0, ceil(case when ${isOver} then ${day}
        else extract(epoch from ${dueAt} - clock_timestamp()) end)), 0)::int as seconds, g.last_at > clock_timestamp() - interval '4 seconds' as busy
    from ${counts} g where g.${subject} = $2 and g.known = asking.known
  ) left_over on true`,
    /** $1: the count. */
    release: `update ${counts} set failures = greatest(failures - 1, 0) where ${subject} = $2 and known = $1`,
  }
}
