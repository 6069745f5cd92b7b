import { fork, type SendHandle } from 'node:child_process'
import type { Server } from 'node:net'
import { builtModule } from '../lib/built-module.ts'

/**
 * Node accepts one connection of a handle in each turn of its event loop (libuv from 1.45 on, uv__server_io): while turns are long,
 * hundreds who connect at once keep everybody who comes later waiting for as many turns. Several handles of one socket accept
 * one each. Nothing of Node duplicates a handle but the way to another process, so one is started that sends it back, and ends.
 */

/**
 * Handles of a socket in all processes together. In turns of 5 ms four accept 500 connections three times as fast as one. With
 * eight, twice as fast again, a tenth fewer honest requests are answered in a siege: those who are connected pay for it.
 */
const handlesOfSocket = 4

/** The part of one of several processes, each of which has a handle by itself. */
export const handlesOf = (processes: number): number => Math.ceil(handlesOfSocket / processes)

/** How long the other process may take, on a machine that is busy. */
const patienceMs = 10_000

/** What Node has behind a server; no part of its documented API, and so looked for before it is used. */
interface Handle {
  /** Takes a connection for the server that has the handle, within the server's limits. */
  onconnection: ((...accepted: readonly unknown[]) => void) | undefined
  readonly listen: (backlog: number) => number
  close: (...given: readonly unknown[]) => void
}

/**
 * Lets a server that listens accept several connections in each turn. They are its own, as if its one handle had accepted
 * them; the other handles are closed with that one.
 * @param handles how many it has then
 * @param backlog the one that it listens with
 * @returns whether it has them, or has closed; the one that it had works in any case
 */
export async function addHandles(server: Server, handles: number, backlog: number): Promise<boolean> {
  if (handles < 2) return true
  const handle: unknown = '_handle' in server ? server._handle : null
  if (!isHandle(handle) || handle.onconnection === undefined) return false
  const others: Handle[] = []
  const state = { closed: false }
  const child = fork(builtModule(import.meta.url, 'runtime/http/handle-process.js'), {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout: patienceMs,
  })
  // Heard from here on: where files or processes have run out it comes at once, and nothing can be sent.
  const ended = new Promise((resolve) => void child.once('exit', resolve).on('error', resolve))
  if (child.channel === undefined || child.channel === null) return ended.then(() => false)
  child.unref()
  child.channel.unref()
  const close = handle.close.bind(handle)
  handle.close = (...given) => {
    state.closed = true
    child.kill()
    for (const other of others) other.close()
    close(...given)
  }
  child.on('message', (_message, sent: unknown) => {
    if (!isHandle(sent)) return
    sent.onconnection = (...accepted) => handle.onconnection?.(...accepted)
    if (state.closed || sent.listen(backlog) !== 0) sent.close()
    else others.push(sent)
    if (others.length === handles - 1) child.disconnect()
  })
  child.send(handles - 1, handle as unknown as SendHandle, () => undefined)
  await ended
  return state.closed || others.length === handles - 1
}

const isHandle = (value: unknown): value is Handle =>
  typeof value === 'object' &&
  value !== null &&
  'listen' in value &&
  typeof value.listen === 'function' &&
  'close' in value &&
  typeof value.close === 'function'
