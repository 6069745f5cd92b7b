import { connect } from 'node:net'
import { quantile } from '../support/statistics.ts'

/** A stream of Server-Sent Events with minimal cost for its own process. */
export interface OpenStream {
  readonly close: () => void
}

const openMs = 60_000

/** The value of a board in answers: the last one; undefined: none. */
export const valueIn = (text: string): number | undefined => {
  const found = [...text.matchAll(/"value": ?"?(\d+)/g)].at(-1)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** Resolves at the first answer. @param heard called with the value of each later one */
export const openStream = (port: number, request: Buffer, heard: (value: number) => void): Promise<OpenStream> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    const impatience = setTimeout(() => socket.destroy(new Error('a stream was not answered in time')), openMs)
    let isOpen = false
    let rest = ''
    socket.on('data', (chunk: Buffer) => {
      const text = rest + chunk.toString('latin1')
      const end = text.lastIndexOf('\n\n')
      rest = text.slice(end + 1)
      const value = end === -1 ? undefined : valueIn(text.slice(0, end))
      if (value === undefined) {
        if (/^HTTP\/1\.1 [45]/.test(text)) socket.destroy(new Error(text))
        return
      }
      if (isOpen) return heard(value)
      isOpen = true
      clearTimeout(impatience)
      resolve({ close: () => socket.destroy() })
    })
    socket.on('error', reject)
    socket.write(request)
  })

/** A service refuses more simultaneous ones of one address. */
const atOnce = 20

/** Opens many, some at a time. */
export const openStreams = async (
  count: number,
  open: (number: number) => Promise<OpenStream>,
): Promise<{ readonly close: () => void }> => {
  const streams: OpenStream[] = []
  for (let number = 0; number < count; number += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - number) }, (_, index) => open(number + index))
    streams.push(...(await Promise.all(some)))
  }
  return { close: () => streams.forEach((stream) => stream.close()) }
}

/** When each value was sent to Postgres and committed, and the delay of its reports. */
export interface Lateness {
  readonly sent: (value: number) => void
  readonly committed: (value: number) => void
  readonly heard: (value: number) => void
  /** Milliseconds from the commit's answer, and from its sending. */
  readonly found: () => { readonly fromCommit: readonly number[]; readonly fromSending: readonly number[] }
}

export const createLateness = (): Lateness => {
  const times = new Map<number, { readonly sent: number; committed: number | null; readonly heard: number[] }>()
  return {
    sent: (value) => void times.set(value, { sent: performance.now(), committed: null, heard: [] }),
    committed: (value) => {
      const known = times.get(value)
      if (known !== undefined) known.committed = performance.now()
    },
    heard: (value) => times.get(value)?.heard.push(performance.now()),
    found: () => {
      const all = [...times.values()]
      return {
        // An answer may overtake that of the commit.
        fromCommit: all.flatMap(({ committed, heard }) =>
          committed === null ? [] : heard.map((at) => Math.max(0, at - committed)),
        ),
        fromSending: all.flatMap(({ sent, heard }) => heard.map((at) => at - sent)),
      }
    },
  }
}

export const p50 = (values: readonly number[]): number => quantile(values, 0.5)
export const p99 = (values: readonly number[]): number => quantile(values, 0.99)
