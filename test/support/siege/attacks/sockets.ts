import { setTimeout as pause } from 'node:timers/promises'
import { asking } from '../callers.ts'
import type { Arms, Attack } from '../arms.ts'

/** Attacks on a server with TCP alone. */

const headOf = ({ anon }: Arms, length: number): string => {
  const given = { ...anon.headers, host: 'town', 'content-type': 'application/json', 'content-length': String(length) }
  const lines = Object.entries(given).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /graphql/v1 HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** A text byte by byte on each of many connections. */
const trickle =
  (count: number, textOf: (arms: Arms) => readonly [atOnce: string, slowly: string]): Attack['run'] =>
  async (arms) => {
    const [atOnce, slowly] = textOf(arms)
    const trickling = Array.from({ length: count }, async () => {
      const socket = await arms.open()
      if (socket === null) return
      socket.resume()
      socket.write(atOnce)
      for (const letter of slowly) {
        if (arms.isOver() || socket.destroyed) return
        socket.write(letter)
        await arms.rest(300)
      }
    })
    await Promise.all(trickling)
    await arms.rest(60_000)
  }

const slowHead = (arms: Arms): readonly [string, string] => {
  const [line = '', ...rest] = headOf(arms, 100).split('\r\n')
  return [`${line}\r\n`, rest.join('\r\n')]
}
const slowBody = (arms: Arms): readonly [string, string] => [headOf(arms, 1_000), ' '.repeat(1_000)]

const idle: Attack['run'] = async (arms) => {
  await Promise.all(Array.from({ length: 1_000 }, () => arms.open()))
  await arms.rest(60_000)
}

/** Connections come and go; some say something, which may be nonsense. */
const storm: Attack['run'] = async (arms) => {
  const [tls, http2] = ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']
  const words = ['', 'GET', tls, http2, headOf(arms, 1)]
  while (!arms.isOver()) {
    const wave = Array.from({ length: 100 }, async () => {
      const socket = await arms.open()
      socket?.write(words[arms.random(words.length)] ?? '')
      await pause(arms.random(50))
      socket?.resetAndDestroy()
    })
    await Promise.all(wave)
  }
}

/** Says that it will send no more, and waits; then it leaves. */
const halfClosed: Attack['run'] = async (arms) => {
  while (!arms.isOver()) {
    const mark = arms.marks.next()
    const wave = Array.from({ length: 16 }, async () => {
      const socket = await arms.open()
      if (socket === null) return
      socket.resume()
      socket.end(asking(arms.anon, `{ nap(seconds: 5, mark: ${mark}) }`))
      await pause(100 + arms.random(400))
      socket.destroy()
    })
    await Promise.all(wave)
    arms.marks.left(mark)
  }
}

/** Hundreds of requests at once on one connection. */
const pipelined: Attack['run'] = async (arms) => {
  while (!arms.isOver()) {
    const mark = arms.marks.next()
    const seconds = ['0.01', '2'][arms.random(2)]
    const one = asking(arms.anon, `{ nap(seconds: ${seconds}, mark: ${mark}) }`)
    const socket = await arms.open()
    socket?.resume()
    socket?.write(Buffer.concat(Array.from({ length: 100 + arms.random(400) }, () => one)))
    await arms.rest(200 + arms.random(300))
    socket?.destroy()
    arms.marks.left(mark)
    await arms.rest(100)
  }
}

export const sockets: readonly Attack[] = [
  { name: 'slow heads', does: '300 clients send their headers byte by byte', relaxes: {}, run: trickle(300, slowHead) },
  { name: 'slow bodies', does: '300 clients send their bodies byte by byte', relaxes: {}, run: trickle(300, slowBody) },
  { name: 'idle connections', does: 'a thousand connections that say nothing', relaxes: {}, run: idle },
  {
    name: 'a storm of connections',
    does: 'a hundred connections at once, again and again, some with nonsense',
    relaxes: {},
    run: storm,
  },
  { name: 'half-closed sockets', does: 'clients that close their side, wait and leave', relaxes: {}, run: halfClosed },
  {
    name: 'pipelined requests',
    does: 'hundreds of slow requests on one connection, which is then closed',
    relaxes: {},
    run: pipelined,
  },
]
