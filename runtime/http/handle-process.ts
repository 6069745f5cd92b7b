import type { SendHandle } from 'node:child_process'

/**
 * The process that duplicates a handle (see listening-handles.ts): it sends back what it was sent, as many times as the message says.
 * It ends with its parent, or when that wants nothing more of it.
 */
process.on('message', (times: number, handle: SendHandle) => {
  for (let sent = 0; sent < times; sent += 1) process.send?.(sent, handle)
})
