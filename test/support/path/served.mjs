import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { Session } from 'node:inspector/promises'

/**
 * The built service in a process of its own, whose parent asks which functions ran. Takes its options as JSON, sends its port,
 * and answers each message with the functions that ran since the one before: path of the file -> names and numbers of calls.
 */

const { createServer } = await import(new URL('../../../dist/compiler/server.js', import.meta.url).href)
const dist = new URL('../../../dist/', import.meta.url).href

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** A module's own evaluation has no name and begins at 0; it runs once, when it is loaded. */
const isModule = ({ functionName, ranges: [{ startOffset }] }) => functionName === '' && startOffset === 0

const taken = async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const files = {}
  for (const { url, functions } of result) {
    if (!url.startsWith(dist)) continue
    const ran = functions.filter((each) => !isModule(each) && each.ranges[0].count > 0)
    if (ran.length === 0) continue
    files[url.slice(dist.length)] = ran.map(({ functionName, ranges: [{ startOffset, count }] }) => ({
      name: functionName,
      at: startOffset,
      calls: count,
    }))
  }
  return files
}

const http = createHttpServer()
http.listen(0, '127.0.0.1')
await once(http, 'listening')
const { port } = http.address()
const server = await createServer({ ...JSON.parse(process.argv[2] ?? '{}'), baseUrl: `http://127.0.0.1:${port}` })
http.on('request', server.handle)
await server.ready
process.on('message', async () => process.send(await taken()))
process.send({ port })
