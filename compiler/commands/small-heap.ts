import { setFlagsFromString } from 'node:v8'

/**
 * Once a server is ready: what requests leave behind dies young, and V8 would wait for a multiple of what is alive before it clears
 * away what outlived that by chance. Compiling a large schema takes longer this way, so it is not for the start. Whoever tells
 * Node how to collect has the last word.
 */
export function keepHeapSmall(): void {
  const given = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ')
  if (!/optimize[-_]for[-_]size/.test(given)) setFlagsFromString('--optimize-for-size')
}
