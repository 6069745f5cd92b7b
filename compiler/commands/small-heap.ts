import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const megabyte = 1024 * 1024
/** Bytes of the space for young objects: with half of it, a row by its key took a twentieth more CPU. */
const young = 16 * megabyte
/** Bytes of old objects above which growth is unlimited: else compiling thousands of tables took 5 % more CPU. */
const large = 48 * megabyte

/**
 * For a server from its start: V8 doubles the space for young objects up to 32 MB, all of which is soon in use, however
 * few old ones there are. Its maximum can only be set at the start of Node, but its growth factor at any time: it is
 * set after each garbage collection.
 */
export function keepYoungSpaceSmall(): void {
  if (hasFlag(/semi[-_]space|optimize[-_]for[-_]size/)) return
  const decide = (): void => {
    const mayGrow = spaceSize('new_space') < young || spaceSize('old_space') > large
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`)
  }
  decide()
  new PerformanceObserver(decide).observe({ entryTypes: ['gc'] })
}

/**
 * For a ready server: V8 lets garbage grow to several times the live heap before it collects it; at half of that, a
 * server on the demo uses 40 MB less, and serves as fast (bench:memory, bench:serve). Compiling takes longer this way,
 * so it is not for the start; at a fifth, some servers used half as much CPU again. `--optimize-for-size` would save 20
 * MB more and make pages of 1,000 rows three times as expensive.
 */
export function keepHeapSmall(): void {
  keepNoTexts()
  if (hasFlag(/heap[-_]growing|optimize[-_]for[-_]size/)) return
  setFlagsFromString('--heap-growing-percent=50')
  clearAway()
}

/**
 * Since Node 22 V8 keeps text and code of each evaluated module, in case the same text is evaluated again, until the
 * heap reaches its limit: including those of replaced revisions, 33 KB for each changed table.
 */
function keepNoTexts(): void {
  if (!hasFlag(/compilation[-_]cache/)) setFlagsFromString('--no-compilation-cache')
}

/** Collects the garbage of the start, after which the heap's growth is computed. A new context exposes `gc`. */
function clearAway(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { readonly execution: 'async' }) => Promise<void>
  setFlagsFromString('--no-expose-gc')
  void collect({ execution: 'async' })
}

/** A flag of Node for the same purpose takes precedence. */
const hasFlag = (flag: RegExp): boolean => flag.test([process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' '))

/** The size of one of V8's spaces in bytes. */
const spaceSize = (space: string): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === space)?.space_size ?? 0
