/**
 * Several actors of whom one goes on at a time, each from one statement to the next: what Postgres sees is an order
 * that the test chose, not one that happened. An actor that waits for a lock has left the stage to the others.
 */
export interface Stage {
  /** Waits until it is the actor's turn. */
  readonly pause: (actor: number, at: string) => Promise<void>
  /**
   * Plays all actors to their ends and gives the order in which they went on. `pick` chooses among those who wait, the
   * first of whom has waited longest: always choosing the first is round robin. Null: it took so long that clients may
   * have timed out, and no actor waited for a turn any more.
   */
  readonly play: (
    actors: readonly (() => Promise<void>)[],
    pick: (below: number) => number,
  ) => Promise<readonly string[] | null>
}

export interface StageOptions {
  /** How many connections wait for a lock just now. */
  readonly blocked: () => Promise<number>
}

interface Waiting {
  readonly at: string
  readonly go: () => void
}

/** Long enough for a statement that waits for no lock, so that locks are looked up only where there may be some. */
const patienceMs = 4
/** Below the times after which Postgres ends a statement and a request its waiting. */
const longestMs = 7_000

export function createStage({ blocked }: StageOptions): Stage {
  let until = 0
  const waiting = new Map<number, Waiting>()
  const running = new Set<number>()
  let tell: () => void = () => undefined
  const changed = (): void => tell()

  /** Whether an actor came or left within that time. */
  const change = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const late = setTimeout(() => resolve(false), ms)
      tell = () => {
        clearTimeout(late)
        resolve(true)
      }
    })

  const isLate = (): boolean => performance.now() > until

  /** Resolves once each actor waits for its turn, for a lock, or has ended, or it is late. */
  const settle = async (): Promise<void> => {
    while (running.size > 0 && !isLate()) {
      if (await change(patienceMs)) continue
      if (waiting.size > 0 && (await blocked()) === running.size) return
    }
  }

  const pause: Stage['pause'] = (actor, at) =>
    new Promise((go) => {
      if (isLate()) return go()
      running.delete(actor)
      waiting.set(actor, { at, go })
      changed()
    })

  const play: Stage['play'] = async (actors, pick) => {
    until = performance.now() + longestMs
    const order: string[] = []
    /** The turn at which each went on last. */
    const last = actors.map(() => 0)
    const waited = (actor: number): number => order.length - (last[actor] ?? 0)
    const ends = actors.map(async (act, actor) => {
      running.add(actor)
      await act().finally(() => {
        running.delete(actor)
        changed()
      })
    })
    const all = Promise.all(ends)
    all.catch(() => undefined)
    for (await settle(); waiting.size > 0 && !isLate(); await settle()) {
      const turns = [...waiting.keys()].sort((a, b) => waited(b) - waited(a) || a - b)
      const actor = turns[pick(turns.length)] as number
      const { at, go } = waiting.get(actor) as Waiting
      last[actor] = order.push(`${actor} ${at}`)
      waiting.delete(actor)
      running.add(actor)
      go()
    }
    for (const { go } of waiting.values()) go()
    waiting.clear()
    await all
    return isLate() ? null : order
  }

  return { pause, play }
}
