import { setFlagsFromString } from 'node:v8'

/**
 * Once a server is ready: V8 lets what is not alive any more grow to several times of what is before it clears it away; at half of
 * it, a server on the demo stays flat 40 MB lower, and serves as fast (bench:memory, bench:serve). Compiling takes longer this
 * way, so it is not for the start. `--optimize-for-size` would save 40 MB more and make pages of 1,000 rows three times as
 * dear. Whoever tells Node how the heap grows has the last word.
 */
export function keepHeapSmall(): void {
  const given = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ')
  if (!/heap[-_]growing|optimize[-_]for[-_]size/.test(given)) setFlagsFromString('--heap-growing-percent=50')
}
