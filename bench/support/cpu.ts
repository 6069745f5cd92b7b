import { readdirSync, readFileSync } from 'node:fs'

/**
 * CPU time of processes from /proc (Linux; elsewhere NaN). The scheduler's own account is used, in nanoseconds; the
 * time of ended processes is known to their parent in ticks of 10 ms only. These files are synthesized on read, so that
 * reading in other threads would cost more.
 */

const tickMicroseconds = 10_000

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const threadsOf = (pid: string): readonly string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`)
  } catch {
    return []
  }
}

/** A process and its descendants: each thread lists the processes that it started (proc(5), children). */
const treeOf = (root: string): readonly string[] => {
  const children = threadsOf(root).flatMap((thread) => textOf(`${thread}/children`).split(' ').filter(Boolean))
  return [root, ...children.flatMap(treeOf)]
}

const threadTime = (pid: string): number =>
  threadsOf(pid).reduce((sum, thread) => sum + Number(textOf(`${thread}/schedstat`).split(' ')[0] ?? 0) / 1_000, 0)

/** cutime and cstime (proc(5), fields 16 and 17), counted after the name, which may contain blanks. */
const endedChildrenTime = (pid: string): number => {
  const text = textOf(`/proc/${pid}/stat`)
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * tickMicroseconds
}

/** Microseconds that a process and its descendants, ended ones included, have used since they started. */
export const cpuTime = (root: number): number => {
  if (process.platform !== 'linux') return Number.NaN
  return treeOf(String(root)).reduce((sum, pid) => sum + threadTime(pid) + endedChildrenTime(pid), 0)
}

/** Resident memory of one process in MB. */
export const residentMb = (pid: number): number => {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1]
  return kilobytes === undefined ? Number.NaN : Number(kilobytes) / 1_024
}

/** The descendants of a process, with their command lines. */
export const descendantsOf = (root: number): readonly { pid: number; command: string }[] =>
  treeOf(String(root))
    .slice(1)
    .map((pid) => ({ pid: Number(pid), command: textOf(`/proc/${pid}/cmdline`) }))

/** One process, or several that are added up. */
export type Counted = number | readonly number[]

const timeOf = (counted: Counted): number => [counted].flat().reduce((sum, root) => sum + cpuTime(root), 0)

/** The CPU of each process during the work, in microseconds, and the result of the work. */
export const withCpu = async <T, K extends string>(
  processes: Readonly<Record<K, Counted>>,
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly cpu: Readonly<Record<K, number>> }> => {
  const names = Object.keys(processes) as K[]
  const times = (): number[] => names.map((name) => timeOf(processes[name]))
  const before = times()
  const value = await work()
  const after = times()
  const cpu = names.map((name, index) => [name, (after[index] ?? 0) - (before[index] ?? 0)] as const)
  return { value, cpu: Object.fromEntries(cpu) as Record<K, number> }
}

/** Microseconds of a process's main thread: the event loop, without the thread pool. */
export const mainThreadTime = (pid: number): number => {
  const [time] = textOf(`/proc/${pid}/task/${pid}/schedstat`).split(' ')
  return time ? Number(time) / 1_000 : Number.NaN
}
