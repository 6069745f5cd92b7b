import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy in front of Postgres that keeps what clients wrote, chunk by chunk, and can cut or hold connections. */
export interface RecordingProxy {
  readonly port: number
  /** Chunks from clients since the last `clear`. */
  readonly chunks: () => readonly Buffer[]
  readonly clear: () => void
  /** Cuts every connection. */
  readonly cut: () => void
  /** While true, nothing from the server reaches the client. */
  readonly hold: (held: boolean) => void
  readonly close: () => Promise<void>
}

/** @param port 0: any that is free */
export const startProxy = async (target: number, port = 0): Promise<RecordingProxy> => {
  const sockets = new Set<Socket>()
  const upstreams = new Set<Socket>()
  let recorded: Buffer[] = []
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    upstreams.add(upstream)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
    }
    client.on('data', (chunk: Buffer) => {
      recorded.push(chunk)
      upstream.write(chunk)
    })
    upstream.pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    upstreams.clear()
  }
  return {
    port: (server.address() as AddressInfo).port,
    chunks: () => recorded,
    clear: () => {
      recorded = []
    },
    cut,
    hold: (held) => {
      for (const upstream of upstreams)
        if (held) upstream.pause()
        else upstream.resume()
    },
    close: async () => {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The statements of clients in order: names of bound statements, and texts of simple queries. */
export function askedOf(chunks: readonly Buffer[]): readonly string[] {
  // A chunk that begins a connection has a length where others have a letter (manual 54.7, StartupMessage).
  return chunks.filter((chunk) => chunk[0] !== 0).flatMap(askedIn)
}

function askedIn(chunk: Buffer): readonly string[] {
  const asked: string[] = []
  for (let at = 0; at < chunk.length; at += 1 + chunk.readInt32BE(at + 1)) {
    const [first = '', second = ''] = chunk.toString('utf8', at + 5, at + 1 + chunk.readInt32BE(at + 1)).split('\0')
    const letter = String.fromCharCode(chunk.readUInt8(at))
    if (letter === 'B') asked.push(second)
    if (letter === 'Q') asked.push(first)
  }
  return asked
}

/** Type letters of the frontend messages in a buffer of whole messages. */
export const messageTypes = (buffer: Buffer): string => {
  let types = ''
  for (let at = 0; at < buffer.length; at += 1 + buffer.readInt32BE(at + 1))
    types += String.fromCharCode(buffer.readUInt8(at))
  return types
}
