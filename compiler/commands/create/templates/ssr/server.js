import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

// `node server.js` serves the sources by Vite; `node server.js production` serves the result of `npm run build`.

const isProduction = process.argv[2] === 'production'
try {
  process.loadEnvFile()
} catch {
  // There is no .env.
}
const { PROJECT_URL: url, ANON_KEY: anonKey, APP_PORT: port = '5173' } = process.env
if (!url || !anonKey) {
  console.error('PROJECT_URL and ANON_KEY are missing: set them in .env, or use npm run dev')
  process.exit(2)
}

const server = createServer((request, response) => {
  assets(request, response, () => void answer(request, response))
})
const { assets, load } = await (isProduction ? openBuilt() : openSources())
server.on('error', (error) => {
  if (error.code !== 'EADDRINUSE') throw error
  console.error(`Port ${port} is in use: set APP_PORT to another one`)
  process.exit(1)
})
server.listen(Number(port), () => console.log(`http://localhost:${server.address().port}`))

async function openSources() {
  const { createServer: createVite } = await import('vite')
  const vite = await createVite({ appType: 'custom', server: { middlewareMode: true, hmr: { server } } })
  return {
    assets: vite.middlewares,
    load: async (path) => ({
      template: await vite.transformIndexHtml(path, await readFile('index.html', 'utf8')),
      render: (await vite.ssrLoadModule('/src/entry-server.tsx')).render,
    }),
  }
}

async function openBuilt() {
  const { default: sirv } = await import('sirv')
  const template = await readFile('dist/client/index.html', 'utf8')
  const { render } = await import('./dist/server/entry-server.js')
  // The page itself is rendered.
  return { assets: sirv('dist/client', { extensions: [], etag: true }), load: async () => ({ template, render }) }
}

async function answer(request, response) {
  try {
    const { template, render } = await load(request.url)
    const cookies = {
      document: cookiesOf(request, response),
      secure: request.headers['x-forwarded-proto'] === 'https',
    }
    const { html, state } = await render({ url, anonKey }, cookies)
    const text = JSON.stringify(state).replaceAll('<', '\\u003c')
    const body = template.replace('<!--app-->', () => html).replace('<!--state-->', () => text)
    // It has the rows of one user.
    response.setHeader('cache-control', 'private, no-store')
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(body)
  } catch (error) {
    console.error(error)
    response.statusCode = 500
    response.end('This page could not be made. Try again later.')
  }
}

/** The cookies of a request, as a page has them in `document`; those that are set go into the response. */
function cookiesOf(request, response) {
  const pairs = (request.headers.cookie ?? '').split(/; */).filter((pair) => pair.includes('='))
  const cookies = new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair]))
  return {
    get cookie() {
      return [...cookies.values()].join('; ')
    },
    set cookie(text) {
      response.appendHeader('set-cookie', text)
      const [pair] = text.split(';')
      const name = pair.slice(0, pair.indexOf('='))
      if (/; Max-Age=0/.test(text)) cookies.delete(name)
      else cookies.set(name, pair)
    },
  }
}
