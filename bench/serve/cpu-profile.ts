import { projectFolder } from '../support/record.ts'

/** The output of `node --cpu-prof` (the Profile of the Chrome DevTools protocol), the used members. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

/** The grouping of time: the function (with file and line), or the file or package. */
export type Grain = 'function' | 'file'

export interface SelfTime {
  readonly place: string
  readonly microseconds: number
  /** Of the time that was not idle. */
  readonly share: number
}

const resting: ReadonlySet<string> = new Set(['(idle)', '(program)'])

type CallFrame = CpuProfile['nodes'][number]['callFrame']

const fileOf = ({ url }: CallFrame): string => url.replace(`file://${projectFolder}/`, '')

const functionOf = (frame: CallFrame): string => {
  const [file, name] = [fileOf(frame), frame.functionName === '' ? '(anonymous)' : frame.functionName]
  return file === '' ? name : `${name} ${file}:${frame.lineNumber + 1}`
}

const placeOf: Readonly<Record<Grain, (frame: CallFrame) => string>> = {
  function: functionOf,
  file: (frame) => /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(fileOf(frame))?.[0] ?? (fileOf(frame) || functionOf(frame)),
}

/** The functions with the largest self time in the last microseconds. */
export const selfTimes = (profile: CpuProfile, last: number, grain: Grain, top: number): readonly SelfTime[] => {
  const places = new Map(profile.nodes.map(({ id, callFrame }) => [id, placeOf[grain](callFrame)]))
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
