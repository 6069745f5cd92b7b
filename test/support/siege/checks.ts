/** Invariants under all attacks. */
export const checks = {
  answered: 'an honest request that reads is answered, and not refused',
  strangers: 'the same for an honest request that nobody has signed in for',
  accepted: 'an honest request that writes is carried out, and not refused',
  prompt: 'an honest request is answered in time',
  heard: 'a change comes to an honest stream, and an honest stream begins, in time',
  exact: 'an honest answer is what stands in the database',
  rights: 'an honest caller has the role, the claims and the session of a fresh connection',
  sessions: 'a session that lives is refreshed, or told to come again, whatever others did at its address',
  kept: 'what was acknowledged is there, once',
  undone: 'what was answered as a failure left nothing',
  gone: 'no statement of somebody who left goes on',
  deadline: 'a request ends at its deadline, and nothing of it is kept',
  strays: 'no cancellation reaches the request of somebody else',
  coded: 'attackers are refused by codes, and the server knows every failure by name',
  memory: 'the memory of the server stays within its bound',
  loop: 'the event loop is not held',
  health: 'the process is told to work, and to be ready while the database is there',
  recovery: 'everything is as before within five seconds after an attack',
  leftovers: 'nothing stays behind in the sessions of the pool',
  alive: 'the server goes on running',
  ending: 'SIGTERM answers, cancels and ends within the grace and a second',
} as const

export type Check = keyof typeof checks

/** Which checks do not hold under an attack, and why that is right. */
export type Relaxations = Readonly<Partial<Record<Check, string>>>

export interface Problem {
  readonly check: Check
  /** The attacks that were under way. */
  readonly under: string
  readonly count: number
  /** The first ones. */
  readonly samples: readonly string[]
}

export interface Verdicts {
  /** `since` is when what went wrong began (performance.now): an attack excuses all that it touched. */
  readonly fail: (check: Check, detail: string, since: number) => void
  readonly problems: () => readonly Problem[]
  /** Forgets what was found so far: it was not the doing of what begins now. */
  readonly begin: () => void
  /** How often a relaxed check did not hold. */
  readonly excused: () => Readonly<Record<string, number>>
}

/** An attack as the judge sees it; `end` is Infinity while it runs. */
export interface Underway {
  readonly name: string
  readonly relaxes: Relaxations
  readonly start: number
  end: number
}

const mostSamples = 2

/** Makes the judge of a run. `underway` are the attacks so far; what is found for the first time is reported. */
export function createVerdicts(underway: readonly Underway[], tell: (line: string) => void): Verdicts {
  const found = new Map<string, Problem & { count: number; readonly samples: string[] }>()
  const excused: Record<string, number> = {}
  return {
    fail: (check, detail, since) => {
      const meanwhile = underway.filter(({ end }) => end >= since)
      const atFirst = meanwhile.filter(({ start }) => start <= since)
      const excuse = meanwhile.find(({ relaxes }) => relaxes[check] !== undefined)
      if (excuse !== undefined) {
        const name = `${check} under ${excuse.name}`
        excused[name] = (excused[name] ?? 0) + 1
        return
      }
      const under = (atFirst.length > 0 ? atFirst : meanwhile).map(({ name }) => name).join(' + ') || 'nothing'
      const key = `${check} ${under}`
      if (!found.has(key)) tell(`${check}, under ${under}: ${detail}`)
      const known = found.get(key) ?? { check, under, count: 0, samples: [] }
      known.count += 1
      if (known.samples.length < mostSamples) known.samples.push(detail)
      found.set(key, known)
    },
    begin: () => found.clear(),
    problems: () => [...found.values()],
    excused: () => excused,
  }
}

export const renderProblem = ({ check, under, count, samples }: Problem): string =>
  [`${check} (${checks[check]}), under ${under}: ${count} times`, ...samples.map((sample) => `  ${sample}`)].join('\n')
