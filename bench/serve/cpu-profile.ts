import { projectFolder } from '../support/record.ts'

/** What `node --cpu-prof` writes (the Profile of the Chrome DevTools protocol), as far as it is read here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

export interface SelfTime {
  /** Function, file and line. */
  readonly place: string
  readonly microseconds: number
  /** Of the time that was not idle. */
  readonly share: number
}

const resting: ReadonlySet<string> = new Set(['(idle)', '(program)'])

const placeOf = ({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string => {
  const file = url.replace(`file://${projectFolder}/`, '')
  return `${functionName === '' ? '(anonymous)' : functionName} ${file}${file === '' ? '' : `:${lineNumber + 1}`}`.trim()
}

/** The functions that most of the last microseconds were spent in, themselves and not by what they called. */
export const selfTimes = (profile: CpuProfile, last: number, top: number): readonly SelfTime[] => {
  const places = new Map(profile.nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]))
  const times = new Map<string, number>()
  let before = profile.timeDeltas.reduce((sum, delta) => sum + delta, 0)
  profile.samples.forEach((id, index) => {
    before -= profile.timeDeltas[index] ?? 0
    if (before > last) return
    const place = places.get(id) ?? ''
    if (!resting.has(place)) times.set(place, (times.get(place) ?? 0) + (profile.timeDeltas[index] ?? 0))
  })
  const total = [...times.values()].reduce((sum, time) => sum + time, 0)
  return [...times]
    .map(([place, microseconds]) => ({ place, microseconds, share: microseconds / total }))
    .sort((a, b) => b.microseconds - a.microseconds)
    .slice(0, top)
}
