/** Calls `due` at a time on the given clock, or up to a millisecond later; the result cancels it. */
export type SetAlarm = (at: number, due: () => void) => () => void

interface Alarm {
  readonly at: number
  due: (() => void) | null
}

const sweepFrom = 100

/** The longest delay of a Node timer. */
const longestMs = 2 ** 31 - 1

/**
 * Tens of thousands of alarms on one timer, set for the earliest of them. They do not keep the process alive. For
 * alarms that are almost always cancelled, `createDeadlines` costs less.
 * @param now milliseconds
 */
export function createAlarms(now: () => number): SetAlarm {
  /** A binary heap: no entry is later than its two children. */
  const heap: Alarm[] = []
  let timer: NodeJS.Timeout | null = null
  let setFor = Infinity
  let calledOff = 0
  const ring = (): void => {
    timer = null
    setFor = Infinity
    for (let first = heap[0]; first !== undefined && (first.due === null || first.at <= now()); first = heap[0]) {
      takeFirst(heap)
      const { due } = first
      if (due === null) calledOff -= 1
      first.due = null
      due?.()
    }
    schedule()
  }
  const schedule = (): void => {
    const first = heap[0]
    if (first === undefined || first.at >= setFor) return
    if (timer !== null) clearTimeout(timer)
    setFor = first.at
    timer = setTimeout(ring, Math.min(longestMs, Math.max(0, Math.ceil(first.at - now())))).unref()
  }
  /** Cancelled ones would stay until their time. A sorted list is a heap as well. */
  const sweep = (): void => {
    const left = heap.filter(({ due }) => due !== null).sort((a, b) => a.at - b.at)
    heap.length = 0
    for (const alarm of left) heap.push(alarm)
    calledOff = 0
  }
  return (at, due) => {
    const alarm: Alarm = { at, due }
    add(heap, alarm)
    schedule()
    return () => {
      if (alarm.due === null) return
      alarm.due = null
      calledOff += 1
      if (calledOff > sweepFrom && calledOff > heap.length / 2) sweep()
    }
  }
}

function add(heap: Alarm[], alarm: Alarm): void {
  let place = heap.push(alarm) - 1
  while (place > 0) {
    const above = (place - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || parent.at <= alarm.at) break
    heap[place] = parent
    place = above
  }
  heap[place] = alarm
}

function takeFirst(heap: Alarm[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let place = 0
  for (;;) {
    const left = 2 * place + 1
    const [a, b] = [heap[left], heap[left + 1]]
    const isRight = b !== undefined && a !== undefined && b.at < a.at
    const child = isRight ? b : a
    if (child === undefined || child.at >= last.at) break
    heap[place] = child
    place = isRight ? left + 1 : left
  }
  heap[place] = last
}
