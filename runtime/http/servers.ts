import { createServer, IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { Server as SocketServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { addToCount } from '../lib/byte-budget.ts'
import {
  bareAnswer,
  bareText,
  renderPlainBare,
  type RenderBare,
  HttpFailure,
  type HttpFailureCode,
} from './boundary.ts'
import { limitSourceOf } from './request-context.ts'
import { isTooSlow, measureWriting, type WritePace, type Writing } from './writing.ts'

export type TakeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

export interface ServerLimits {
  /** All headers of a request together. */
  readonly headerBytes: number
  /** Milliseconds for the headers of a request, and for the whole of it. */
  readonly headersMs: number
  readonly requestMs: number
  readonly pace: () => WritePace
  readonly connections: number
  /** Connections with streams, beside these. */
  readonly streams: number
  /** Of one address; null if all clients come from a proxy's. */
  readonly connectionsOfAddress: number | null
}

/** Requests that one connection may send before the first of them is answered. */
const mostWaiting = 100

/** The maximum delay of time limits. */
const lookEveryMs = 500

/** Above this share of the maximum, idle connections are closed. */
const fullAt = 0.9

interface Connection {
  readonly socket: Socket
  /** The last request and its answer, until that was read. */
  request: IncomingMessage | null
  response: ServerResponse | null
  /** Requests that wait for earlier answers. */
  waiting: number
  writing: Writing | null
}

/** The connections of this process's clients: their maximum number, and time limits for each of their steps. */
export interface Servers {
  readonly limits: ServerLimits
  /** Answers input without a request, whose area is unknown. */
  readonly render: RenderBare
  readonly listening: Set<Server>
  readonly open: Map<Socket, Connection>
  readonly sources: Map<string, number>
  /** Connections with streams, which have their own limit. */
  readonly streaming: Set<Socket>
  /** Handles upgrades to WebSockets. */
  takeUpgrade: TakeUpgrade | null
  /** To be called when every client has closed its own; null: connections are accepted. */
  drained: (() => void) | null
}

export const createServers = (limits: ServerLimits, render: RenderBare = renderPlainBare): Servers => ({
  limits,
  render,
  listening: new Set(),
  open: new Map(),
  sources: new Map(),
  streaming: new Set(),
  takeUpgrade: null,
  drained: null,
})

/** For Fastify: creates a server whose connections are counted here. */
export function makeServer(servers: Servers, handler: RequestListener): Server {
  const { limits, listening } = servers
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: lookEveryMs,
      IncomingMessage: Incoming,
    },
    oneByOne(servers.open, ending(servers, handler)),
  )
  server.keepAliveTimeout = keepAliveMs
  server.maxConnections = limits.connections + limits.streams
  server.on('connection', (socket) => meet(servers, socket))
  server.on('upgrade', (request, socket, head) => {
    if (servers.takeUpgrade === null) refuseSocket(socket, 'UNAVAILABLE', servers.render)
    else servers.takeUpgrade(request, socket, head)
  })
  server.once('listening', () => {
    listening.add(server)
    const looking = setInterval(() => lookAtAll(servers), lookEveryMs).unref()
    server.once('close', () => {
      listening.delete(server)
      clearInterval(looking)
    })
  })
  return server
}

/** During shutdown every answer ends its connection. */
const ending =
  (servers: Servers, handler: RequestListener): RequestListener =>
  (request, response) => {
    if (servers.drained !== null) response.setHeader('connection', 'close')
    handler(request, response)
  }

function meet(servers: Servers, socket: Socket): void {
  const { limits, open, sources, streaming, render } = servers
  const source = limitSourceOf(socket)
  const isFull = open.size - streaming.size >= limits.connections
  const isTooMany = addToCount(sources, source, 1) > (limits.connectionsOfAddress ?? Infinity) || isFull
  socket.once('close', () => {
    open.delete(socket)
    streaming.delete(socket)
    if (open.size === 0) servers.drained?.()
    addToCount(sources, source, -1)
  })
  if (isTooMany) refuseSocket(socket, 'OVERLOADED', render)
  else open.set(socket, { socket, request: null, response: null, waiting: 0, writing: null })
}

function lookAtAll(servers: Servers): void {
  const { limits, open, streaming } = servers
  const now = performance.now()
  const pace = limits.pace()
  for (const connection of open.values()) lookAtConnection(connection, pace, now)
  if (open.size - streaming.size > limits.connections * fullAt) closeIdle(servers)
}

/** Counts a connection among those of streams until the result is called. */
export function carryStreams({ open, streaming }: Servers, socket: Socket): () => void {
  if (open.has(socket)) streaming.add(socket)
  return () => void streaming.delete(socket)
}

/** From now on each connection ends with its current answer. */
export function endWithAnswers(servers: Servers): void {
  for (const response of pending(servers)) response.setHeader('connection', 'close')
}

/** Accepts no new connections; resolves when every client has closed its own, after an answer that asks for it. */
export const drain = (servers: Servers): Promise<void> =>
  new Promise((resolve) => {
    servers.drained = resolve
    // HTTP's own close would end idle connections while a request may be in transit.
    for (const server of servers.listening) SocketServer.prototype.close.call(server)
    if (servers.open.size === 0) resolve()
  })

export function closeIdle({ listening }: Servers): void {
  for (const server of listening) server.closeIdleConnections()
}

export function closeUnused({ open }: Servers): void {
  for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy()
}

export function giveUp(servers: Servers, code: HttpFailureCode): void {
  const { status, headers, body } = bareAnswer(code, renderPlainBare)
  // Those behind another answer end with their connection.
  for (const response of pending(servers)) if (response.socket !== null) response.writeHead(status, headers).end(body)
}

export function destroyConnections({ open }: Servers): void {
  for (const socket of open.keys()) socket.destroy()
}

const pending = ({ open }: Servers): readonly ServerResponse[] =>
  [...open.values()].flatMap(({ response }) => (response === null || response.headersSent ? [] : response))

/**
 * A request, which decides for Node whether it is an upgrade: to a WebSocket only. Others, such as those of clients
 * that offer HTTP/2 (h2c), are answered as plain requests (RFC 9110 section 7.8).
 */
class Incoming extends IncomingMessage {
  get upgrade(): boolean {
    const { method, headers } = this
    return method === 'CONNECT' || (headers.upgrade?.toLowerCase() === 'websocket' && hasToken(headers.connection))
  }

  /** Node's result is computed differently here. */
  set upgrade(_found: boolean | null) {}
}

const hasToken = (connection: string | undefined): boolean => /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection ?? '')

/** Longer than the idle timeout of proxies, so that the server does not close a connection that is about to be used. */
const keepAliveMs = 72_000

function lookAtConnection(connection: Connection, pace: WritePace, now: number): void {
  const { socket, response } = connection
  if (response?.writableFinished === true) {
    connection.request = null
    connection.response = null
  }
  connection.writing = measureWriting(socket, connection.writing, now)
  if (connection.writing !== null && isTooSlow(connection.writing, pace, now)) socket.destroy()
}

/**
 * Handles the requests of a connection one after the other: otherwise the answers of a client that pipelines many would
 * all wait in memory. Few clients pipeline.
 */
const oneByOne =
  (open: ReadonlyMap<Socket, Connection>, handler: RequestListener): RequestListener =>
  (request, response) => {
    const connection = open.get(request.socket)
    if (connection === undefined) return
    const before = connection.response
    connection.request = request
    connection.response = response
    if (response.socket !== null || before === null) {
      handler(request, response)
      return
    }
    connection.waiting += 1
    if (connection.waiting > mostWaiting) request.socket.destroy()
    else
      before.once('close', () => {
        connection.waiting -= 1
        if (!request.socket.destroyed) handler(request, response)
      })
  }

/** Closing a connection with unread bytes discards its last answer: they are read for this long. */
const lingerMs = 1_000

function refuseSocket(socket: Duplex, code: HttpFailureCode, render: RenderBare): void {
  // Further input fails again, and was answered.
  if (socket.writableEnded) return
  socket.end(bareText(code, render))
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/** Errors of Node's parser and clock, by their codes (Node reference, http, event clientError). */
const codes: Readonly<Record<string, HttpFailureCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'BODY_TOO_LARGE',
}

/**
 * For Fastify: answers input that is not a request, or does not become one in time. The reader of a body answers its
 * request; another answer in progress is cut off.
 */
export function answerError({ open, render }: Servers, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy(error)
  const code = codes[error.code ?? ''] ?? 'REQUEST_MALFORMED'
  const { request = null, response = null } = open.get(socket) ?? {}
  if (response === null || response.writableFinished) return refuseSocket(socket, code, render)
  const isRead = request !== null && !request.complete && request.listenerCount('error') > 0
  if (!isRead || response.headersSent) return void socket.destroy(error)
  request.emit('error', new HttpFailure(code))
}
