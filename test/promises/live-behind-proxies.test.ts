import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type ClientHttp2Session } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createClient } from '../../runtime/client/client.ts'
import type { Socket } from '../../runtime/client/environment.ts'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { makeAuthority, makeCertificate, noOpenssl } from '../support/certificates.ts'
import { describePresent } from '../support/describe-present.ts'
import { isInstalled } from '../support/programs.ts'
import { openLiveServer, type LiveServer } from '../support/live.ts'

/** Streams through the proxies of docs/deploy.md, with their own files there, and HTTP/2 towards the client. */

interface Proxy {
  readonly name: string
  readonly program: string
  /** The file of the documentation, with other ports and a certificate. */
  readonly config: (parts: ProxyParts) => string
  readonly args: (parts: ProxyParts, file: string) => readonly string[]
}

interface ProxyParts {
  readonly folder: string
  readonly port: number
  readonly target: string
}

const documented = (file: string, changes: Readonly<Record<string, string>>): string =>
  Object.entries(changes).reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${file} lacks ${from}`)
      return text.replace(from, to)
    },
    readFileSync(new URL(`../../docs/deploy/${file}`, import.meta.url), 'utf8'),
  )

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    program: '/usr/sbin/nginx',
    config: ({ folder, port, target }) =>
      documented('nginx.conf', {
        '127.0.0.1:54321': target,
        'listen 8080;': `listen 127.0.0.1:${port} ssl http2;
          ssl_certificate ${folder}/proxy.crt; ssl_certificate_key ${folder}/proxy.key; access_log off;`,
      }),
    args: ({ folder }, file) => {
      const user = process.getuid?.() === 0 ? 'user root; ' : ''
      return ['-c', file, '-p', folder, '-g', `${user}daemon off; pid ${folder}/pid; error_log stderr;`]
    },
  },
  {
    name: 'Caddy',
    program: '/usr/bin/caddy',
    config: ({ folder, port, target }) =>
      `{\nadmin off\nauto_https disable_redirects\n}\n${documented('Caddyfile', {
        '127.0.0.1:54321': target,
        ':8080 {': `https://127.0.0.1:${port} {\ntls ${folder}/proxy.crt ${folder}/proxy.key`,
      })}`,
    args: (_parts, file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
]

const missing = ({ program }: Proxy): string | null => (isInstalled(program) ? noOpenssl() : `there is no ${program}`)
const rows = proxies.map((proxy) => ({ proxy, missing: missing(proxy) }))

let server: LiveServer
let folder: string
beforeAll(async () => {
  if (rows.every(({ missing }) => missing !== null)) return
  server = await openLiveServer()
  folder = mkdtempSync(join(tmpdir(), 'live-proxies-'))
  await makeAuthority(folder, 'authority')
  await makeCertificate(folder, 'authority', 'proxy', { subject: '127.0.0.1', hosts: 'IP:127.0.0.1' })
})
afterAll(async () => {
  await server?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true })
})

const text = '{ postsCollection(first: 1, orderBy: [{id: AscNullsLast}]) { edges { node { title } } } }'
const titlesIn = (events: string): readonly string[] =>
  [...events.matchAll(/"title": ?"(\w+)"/g)].map(([, title]) => title ?? '')
const rename = (title: string): Promise<void> => server.write(`update posts set title = '${title}' where id = 1`)

describePresent(
  rows,
  ({ proxy }) => `streams behind ${proxy.name}`,
  ({ proxy }) => {
    let child: ChildProcess
    let origin: string
    beforeAll(async () => {
      const port = await freePort()
      const parts = { folder, port, target: new URL(server.url).host }
      const file = join(folder, proxy.name)
      writeFileSync(file, proxy.config(parts))
      const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
      child = spawn(proxy.program, proxy.args(parts, file), { stdio: 'ignore', env })
      origin = `https://127.0.0.1:${port}`
      await vi.waitFor(() => opens(port), { timeout: 20_000, interval: 100 })
    })
    afterAll(async () => {
      if (child === undefined) return
      const gone = once(child, 'exit')
      child.kill()
      await gone
    })

    it('the answers come one by one over a shared HTTP/2 connection', async () => {
      await rename('one')
      const session = connect(origin, { ca: readFileSync(join(folder, 'authority.crt')) })
      const streams = Array.from({ length: 20 }, () => listen(session))
      for (const { titles } of streams) await expect.poll(titles, { timeout: 10_000 }).toEqual(['one'])
      await rename('two')
      for (const { titles } of streams) await expect.poll(titles).toEqual(['one', 'two'])
      session.destroy()
      await expect.poll(() => server.live.stats().streams, { timeout: 10_000 }).toBe(0)
    })

    it('the answers come over WebSockets', async () => {
      await rename('one')
      const ca = readFileSync(join(folder, 'authority.crt'))
      const client = createClient(origin, server.token({}), {
        environment: { openSocket: (url, protocol) => new WebSocket(url, protocol, { ca }) as unknown as Socket },
      })
      const heard: string[] = []
      client.live(`subscription ${text}`, {}, (result) => heard.push(...titlesIn(JSON.stringify(result))))
      await expect.poll(() => heard, { timeout: 10_000 }).toEqual(['one'])
      await rename('two')
      await expect.poll(() => heard).toEqual(['one', 'two'])
      client.close()
      await expect.poll(() => server.live.stats().streams, { timeout: 10_000 }).toBe(0)
    })

    function listen(session: ClientHttp2Session) {
      let events = ''
      const request = session.request({
        ':method': 'POST',
        ':path': '/graphql/v1',
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...server.headers({}),
      })
      request.setEncoding('utf8').on('data', (piece: string) => (events += piece))
      request.on('error', () => undefined)
      request.end(JSON.stringify({ query: `subscription ${text}` }))
      return { titles: () => titlesIn(events) }
    }
  },
  60_000,
)

/** Rejects if the port is closed. */
async function opens(port: number): Promise<void> {
  const socket = connectTcp(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.destroy()
}
