import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { serveBuilt } from '../support/served.ts'

/** Ten seconds mean ten seconds: anyone who sends a request slower than that is answered and gone within one more. */

const db = forSuite(createDatabase, { prepare: 'auth' })
const served = forSuite(() => serveBuilt(db))

/** Sends the first part at once and one character a second from then on; what was heard, and after how long. */
const trickle = async (text: string): Promise<{ readonly heard: string; readonly ms: number }> => {
  const began = performance.now()
  const socket = connect(served.port, '127.0.0.1', () => socket.write(text))
  let heard = ''
  let isOver = false
  socket.on('data', (chunk) => (heard += chunk.toString('utf8')))
  socket.on('error', () => undefined)
  socket.on('close', () => (isOver = true))
  while (!isOver) {
    await pause(200)
    if (socket.writable) socket.write('x')
  }
  return { heard, ms: performance.now() - began }
}

const post = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\napikey: ${served.anon}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`

describe.concurrent('a request that trickles', () => {
  it.each([
    ['in its headers', () => 'GET / HTTP/1.1\r\nHost: ', 504, '"error_code":"request_timeout"'],
    ['in its body, to GraphQL', () => post('/graphql/v1'), 408, '"extensions":{"code":"REQUEST_TIMEOUT"}'],
    ['in its body, to auth', () => post('/auth/v1/token?grant_type=password'), 504, '"error_code":"request_timeout"'],
  ])('is cut off: %s', async (_name, text, status, said) => {
    const { heard, ms } = await trickle(text())
    expect(heard).toContain(`HTTP/1.1 ${status} `)
    expect(heard).toContain(said)
    expect(heard).toMatch(/^access-control-allow-origin: \*\r$/im)
    expect(ms).toBeGreaterThan(9_900)
    expect(ms).toBeLessThan(11_500)
  })
})
