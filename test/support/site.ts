import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from '../../runtime/client/client.ts'

/** A page of an application that has nothing but the client library, built, as `globalThis.client`. */
export interface SiteWindow {
  readonly client: Client
}

export interface Site {
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Subdomains of it share their sessions in cookies; pages of any other host keep them in their storage. */
export const sharedDomain = 'shop.localhost'

export async function startSite(projectUrl: string, anonKey: string): Promise<Site> {
  const library = new URL('../../runtime/client/dist/', import.meta.url)
  const server = createServer(async (request, response) => {
    const [, name] = /^\/catalograph\/((?:live\/)?[\w-]+\.js)$/.exec(request.url ?? '') ?? []
    const type = name === undefined ? 'text/html' : 'text/javascript'
    const body = name === undefined ? page(projectUrl, anonKey) : await readFile(new URL(name, library))
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

const page = (projectUrl: string, anonKey: string): string => `<!doctype html>
<html lang="en">
  <title>Site</title>
  <link rel="icon" href="data:,">
  <script type="module">
    import { cookieStorage, createClient } from '/catalograph/client.js'
    const shares = location.hostname.endsWith('.${sharedDomain}')
    const storage = shares ? { storage: cookieStorage({ domain: '${sharedDomain}' }) } : {}
    const client = createClient('${projectUrl}', '${anonKey}', { auth: { flowType: 'pkce', ...storage } })
    const { error } = await client.auth.initialize()
    document.body.append(error === null ? 'ready' : error.message)
    globalThis.client = client
  </script>
</html>`
