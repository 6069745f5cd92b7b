/**
 * Several actors of whom one goes on at a time, each from one statement to the next: what Postgres sees is an order
 * that somebody chose, not one that happened. An actor that waits for a lock has left the stage to the others.
 */
export interface Stage {
  /** Waits until it is the actor's turn. */
  readonly pause: (actor: number, at: string) => Promise<void>
  /**
   * Plays all actors to their ends and gives the order in which they went on. `pick` chooses among those who wait, the
   * first of whom has waited longest: always the first is everybody in turn.
   */
  readonly play: (
    actors: readonly (() => Promise<void>)[],
    pick: (below: number) => number,
  ) => Promise<readonly string[]>
}

export interface StageOptions {
  /** How many connections wait for a lock just now. */
  readonly blocked: () => Promise<number>
}

interface Waiting {
  readonly at: string
  readonly go: () => void
}

/** Long enough for a statement that waits for nobody, so that locks are asked about only where there may be some. */
const patienceMs = 4
/** Nobody goes on for so long: not even a deadlock, which Postgres ends after a second. */
const stuckMs = 20_000

export function createStage({ blocked }: StageOptions): Stage {
  const waiting = new Map<number, Waiting>()
  const running = new Set<number>()
  let tell: () => void = () => undefined
  const changed = (): void => tell()

  /** Whether somebody came or went within that time. */
  const change = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const late = setTimeout(() => resolve(false), ms)
      tell = () => {
        clearTimeout(late)
        resolve(true)
      }
    })

  /** Resolves once each actor waits for its turn, for a lock, or has ended. */
  const settle = async (): Promise<void> => {
    const until = performance.now() + stuckMs
    while (running.size > 0) {
      if (await change(patienceMs)) continue
      if (waiting.size > 0 && (await blocked()) === running.size) return
      if (performance.now() > until) throw new Error(`Stuck: ${[...running].join()}`)
    }
  }

  const pause: Stage['pause'] = (actor, at) =>
    new Promise((go) => {
      running.delete(actor)
      waiting.set(actor, { at, go })
      changed()
    })

  const play: Stage['play'] = async (actors, pick) => {
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
    for (await settle(); waiting.size > 0; await settle()) {
      const turns = [...waiting.keys()].sort((a, b) => waited(b) - waited(a) || a - b)
      const actor = turns[pick(turns.length)] as number
      const { at, go } = waiting.get(actor) as Waiting
      last[actor] = order.push(`${actor} ${at}`)
      waiting.delete(actor)
      running.add(actor)
      go()
    }
    await all
    return order
  }

  return { pause, play }
}
