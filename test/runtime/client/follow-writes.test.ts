import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { followWrites } from '../../../runtime/client/follow-writes.ts'

it('the client sends the latest position of the answers back to the project alone', async () => {
  const asked: (string | undefined)[] = []
  const positions = ['1/0/A0', '1/0/9', '2/0/1', undefined]
  const server = createServer((request, response) => {
    asked.push(request.headers['catalograph-position'] as string | undefined)
    const position = request.url === '/project/' ? positions.shift() : undefined
    response.writeHead(200, position === undefined ? {} : { 'catalograph-position': position }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.close()
  })
  const ask = followWrites(`${origin}/project`, fetch)
  for (let index = 0; index < 4; index += 1) await ask(`${origin}/project/`)
  await ask(new Request(`${origin}/project/`))
  await ask(`${origin}/elsewhere`)
  expect(asked).toEqual([undefined, '1/0/A0', '1/0/A0', '2/0/1', '2/0/1', undefined])
})
