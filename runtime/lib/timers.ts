/** Sets a deadline: `passed` is called after so many milliseconds, unless the result is called earlier. */
export type SetDeadline = (ms: number, passed: () => void) => () => void

interface Deadline {
  readonly at: number
  readonly passed: () => void
  cancel: () => boolean
}

/**
 * Thousands of deadlines per second on one timer, for those almost always cancelled: setting one is an entry in a bag.
 * They are checked every `everyMs` milliseconds, so one may be that much late, and never early. They do not keep the
 * process alive.
 */
export function createDeadlines(everyMs: number): SetDeadline {
  const open = createUnorderedSet<Deadline>()
  let timer: NodeJS.Timeout | null = null
  const checkDue = (): void => {
    const now = performance.now()
    for (const deadline of open.all()) {
      // An earlier callback may have cancelled this one.
      if (deadline.at <= now && deadline.cancel()) deadline.passed()
    }
    if (open.size() > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
  return (ms, passed) => {
    const deadline: Deadline = { at: performance.now() + ms, passed, cancel: () => false }
    deadline.cancel = open.add(deadline)
    timer ??= setInterval(checkDue, everyMs).unref()
    return deadline.cancel
  }
}

/** An unordered collection with thousands of insertions and removals per second. */
export interface UnorderedSet<T> {
  /** Inserts an item. The result removes it, and returns whether it was present. */
  readonly add: (item: T) => () => boolean
  /** The present items. */
  readonly all: () => readonly T[]
  readonly size: () => number
}

interface Slot<T> {
  readonly item: T
  /** -1: removed. */
  at: number
}

/**
 * An array in which the last item fills each gap. A Set would do, but V8 links each outgrown table of a Set to the next
 * one: once one of them is in the old generation, all later ones and their content become old as well, and only the
 * expensive kind of collection frees them. That kept 1.7 KB of each request alive.
 */
export function createUnorderedSet<T>(): UnorderedSet<T> {
  const places: Slot<T>[] = []
  const remove = (place: Slot<T>): boolean => {
    if (place.at === -1) return false
    const last = places.pop()
    if (last !== undefined && last !== place) {
      places[place.at] = last
      last.at = place.at
    }
    place.at = -1
    return true
  }
  return {
    add: (item) => {
      const place = { item, at: places.length }
      places.push(place)
      return () => remove(place)
    },
    all: () => places.map(({ item }) => item),
    size: () => places.length,
  }
}

/** Calls a function once in each round, beginning with its next turn, until the result is called. */
export type JoinRounds = (turn: () => void) => () => void

/** The number of steps of a round. */
const steps = 150

/**
 * Spreads thousands of periodic calls over a period, on one timer that runs while there are any. It does not keep the
 * process alive. Simultaneous additions are spread: one to each step in turn.
 */
export function createRounds(periodMs: number): JoinRounds {
  const places = Array.from({ length: steps }, () => new Set<() => void>())
  let step = 0
  let count = 0
  let fill = 0
  let timer: NodeJS.Timeout | null = null
  const next = (): void => {
    step = (step + 1) % steps
    for (const turn of [...(places[step] ?? [])]) turn()
  }
  return (turn) => {
    fill = (fill + 1) % steps
    const place = places[fill]
    // A separate function for each: the same turn may be added twice.
    const own = (): void => turn()
    place?.add(own)
    count += 1
    timer ??= setInterval(next, periodMs / steps).unref()
    return () => {
      if (place?.delete(own) !== true) return
      count -= 1
      if (count > 0 || timer === null) return
      clearInterval(timer)
      timer = null
    }
  }
}

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
    addAlarm(heap, alarm)
    schedule()
    return () => {
      if (alarm.due === null) return
      alarm.due = null
      calledOff += 1
      if (calledOff > sweepFrom && calledOff > heap.length / 2) sweep()
    }
  }
}

function addAlarm(heap: Alarm[], alarm: Alarm): void {
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

/** Waits for a promise, but at most so many milliseconds: true if it settled in time. Rejects as it does. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/** The duration of a stage, in milliseconds. */
export interface Timing {
  readonly stage: string
  readonly ms: number
}

/** Runs a stage and records its duration; errors pass through. */
export type Timed = <T>(stage: string, run: () => T | Promise<T>) => Promise<T>

interface Stopwatch {
  readonly timed: Timed
  /** The stages so far, in order. */
  readonly timings: () => readonly Timing[]
}

export function createStopwatch(): Stopwatch {
  const noted: Timing[] = []
  return {
    timed: async (stage, run) => {
      const started = performance.now()
      const value = await run()
      noted.push({ stage, ms: performance.now() - started })
      return value
    },
    timings: () => [...noted],
  }
}
