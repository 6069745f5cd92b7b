import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fastify, type FastifyInstance } from 'fastify'
import { answerFailures, renderPlainFailure } from '../../../runtime/http/boundary.ts'
import { registerDashboard } from '../../../runtime/console/register.ts'

let app: FastifyInstance
beforeAll(() => {
  app = fastify()
  answerFailures(app, () => undefined, renderPlainFailure)
  registerDashboard(app)
})
afterAll(() => app.close())

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

describe('the files of the dashboard', () => {
  it('are not framed by others, not sniffed, and have a tag that says whether they changed', async () => {
    const page = await get('/dashboard')
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
    })
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    const again = await get('/dashboard', { 'if-none-match': String(page.headers.etag) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })

  it('show mails in a frame where nothing runs and nothing is fetched', async () => {
    const { headers } = await get('/dashboard/mail.html')
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'unsafe-inline'; .*sandbox allow-same-origin$/,
    )
  })

  it('come compressed to clients that take them so', async () => {
    const plain = await get('/dashboard/main.js')
    const small = await get('/dashboard/main.js', { 'accept-encoding': 'gzip, br' })
    expect([plain.headers['content-encoding'], small.headers['content-encoding']]).toEqual([undefined, 'gzip'])
    expect(small.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
  })

  it('are those that were built and no others', async () => {
    for (const name of ['..%2f..%2fpackage.json', 'page.tsx', 'none.js']) {
      expect((await get(`/dashboard/${name}`)).statusCode).toBe(404)
    }
    expect((await get('/dashboard/')).headers['location']).toBe('../dashboard')
    expect((await get('/')).headers['location']).toBe('dashboard')
    expect((await get('/favicon.ico')).statusCode).toBe(204)
  })
})
