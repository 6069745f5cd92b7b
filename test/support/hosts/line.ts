import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Endpoint } from '../cluster.ts'
import type { Random } from '../random.ts'

/** The effect of a line on its traffic in both directions. */
export interface Weather {
  /** How long a piece is under way. */
  readonly latencyMs: number
  /** By how much longer, at most. */
  readonly jitterMs: number
  /** Of a hundred pieces this many are lost and sent again; those behind them wait. */
  readonly lostPercent: number
  /** Nothing arrives, and no side gets an error; what is under way arrives once that is over. */
  readonly parted: boolean
}

export const fair: Weather = { latencyMs: 0, jitterMs: 0, lostPercent: 0, parted: false }

/** A line of TCP between two hosts, through this process. */
export interface Line extends Endpoint {
  readonly set: (weather: Weather) => void
  /** Resets every connection. */
  readonly cut: () => void
  readonly close: () => Promise<void>
}

/** Of TCP: the first one, in milliseconds (RFC 6298 has a second, Linux 200 ms). */
const retransmissionMs = 200
/** A sender waits for a receiver that has this much to come. */
const mostBytes = 1_048_576

interface Flow {
  /** Called when the weather changes. */
  readonly look: () => void
  readonly end: () => void
}

/** Hands on what `from` says to `to`, in its order. */
function createFlow(from: Socket, to: Socket, weather: () => Weather, random: Random): Flow {
  const queue: { readonly bytes: Buffer; readonly due: number }[] = []
  let [waiting, last] = [0, 0]
  let timer: NodeJS.Timeout | null = null
  let isOver = false
  const look = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (weather().parted || to.destroyed) return
    for (let first = queue[0]; first !== undefined && first.due <= performance.now(); first = queue[0]) {
      queue.shift()
      waiting -= first.bytes.length
      to.write(first.bytes)
    }
    if (waiting < mostBytes) from.resume()
    const [next] = queue
    if (next !== undefined) timer = setTimeout(look, Math.max(1, next.due - performance.now()))
    else if (isOver) to.end()
  }
  from.on('data', (bytes: Buffer) => {
    const { latencyMs, jitterMs, lostPercent } = weather()
    const lost = random(100) < lostPercent ? retransmissionMs : 0
    last = Math.max(last, performance.now() + latencyMs + random(jitterMs + 1) + lost)
    queue.push({ bytes, due: last })
    waiting += bytes.length
    if (waiting >= mostBytes) from.pause()
    look()
  })
  from.on('end', () => {
    isOver = true
    look()
  })
  return {
    look,
    end: () => {
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/** @param address where it is reached */
export async function openLine(address: string, target: Endpoint, random: Random): Promise<Line> {
  let weather = fair
  const flows = new Set<Flow>()
  const sockets = new Set<Socket>()
  /** Their other ends have gone, without a packet that says so. */
  const widowed = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host: target.address, port: target.port, allowHalfOpen: true })
    const both = [near, far] as const
    const own = [createFlow(near, far, () => weather, random), createFlow(far, near, () => weather, random)]
    for (const flow of own) flows.add(flow)
    const leave = (): void => {
      for (const flow of own) {
        flow.end()
        flows.delete(flow)
      }
      for (const socket of both) {
        sockets.delete(socket)
        // That one host has gone is not known at the other while they are parted.
        if (!weather.parted) socket.destroy()
        else widowed.add(socket)
      }
    }
    for (const socket of both) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.once('close', leave)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  const destroy = (all: Set<Socket>): void => {
    for (const socket of all) socket.destroy()
    all.clear()
  }
  return {
    address,
    port: (server.address() as AddressInfo).port,
    set: (next) => {
      weather = next
      if (!next.parted) destroy(widowed)
      for (const flow of [...flows]) flow.look()
    },
    cut: () => {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    close: async () => {
      weather = fair
      destroy(widowed)
      destroy(sockets)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
