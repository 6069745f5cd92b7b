import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const megabyte = 1024 * 1024
/** Bytes of the space for young objects: with half of it, a row by its key took a twentieth more CPU. */
const young = 16 * megabyte
/** Bytes of old objects from which on they grow as ever: a compile of thousands of tables took a twentieth more CPU. */
const large = 48 * megabyte

/**
 * For a server from its start: V8 doubles the space for young objects up to 32 MB, all of which it soon has touched,
 * however few old ones there are. Its bound can be set at the start of Node only, but its growth factor at any time: it
 * is set after each garbage collection.
 */
export function keepYoungSpaceSmall(): void {
  if (isGiven(/semi[-_]space|optimize[-_]for[-_]size/)) return
  const decide = (): void => {
    const mayGrow = sizeOf('new_space') < young || sizeOf('old_space') > large
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`)
  }
  decide()
  new PerformanceObserver(decide).observe({ entryTypes: ['gc'] })
}

/**
 * Once a server is ready: V8 lets what is not alive any more grow to several times of what is before it clears it away; at half of
 * it, a server on the demo stays flat 40 MB lower, and serves as fast (bench:memory, bench:serve). Compiling takes longer this
 * way, so it is not for the start; at a fifth, some servers spent half as much CPU again. `--optimize-for-size` would save 20 MB
 * more and make pages of 1,000 rows three times as dear.
 */
export function keepHeapSmall(): void {
  keepNoTexts()
  if (isGiven(/heap[-_]growing|optimize[-_]for[-_]size/)) return
  setFlagsFromString('--heap-growing-percent=50')
  clearAway()
}

/**
 * Since Node 22 V8 keeps text and code of each module that was evaluated, for anyone who evaluates the same text again, until the heap
 * reaches its limit: those of replaced revisions among them, 33 KB for each table that changed.
 */
function keepNoTexts(): void {
  if (!isGiven(/compilation[-_]cache/)) setFlagsFromString('--no-compilation-cache')
}

/** What starting left behind: only then does it count how the heap may grow. A context that is made under this flag has it. */
function clearAway(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { readonly execution: 'async' }) => Promise<void>
  setFlagsFromString('--no-expose-gc')
  void collect({ execution: 'async' })
}

/** A flag of Node about the same takes precedence. */
const isGiven = (flag: RegExp): boolean => flag.test([process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' '))

/** Bytes that one of V8's spaces has taken. */
const sizeOf = (space: string): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === space)?.space_size ?? 0
