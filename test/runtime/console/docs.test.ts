import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fastify, type FastifyInstance } from 'fastify'
import { registerDocs } from '../../../runtime/console/docs.ts'
import { answerFailures, renderPlainFailure } from '../../../runtime/http/boundary.ts'
import { packageFolder } from '../../../runtime/lib/package.ts'
import { createDatabase } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'
import { whileServed } from '../../support/while-served.ts'

const appOf = (folder: string): FastifyInstance => {
  const app = fastify()
  answerFailures(app, () => undefined, renderPlainFailure)
  registerDocs(app, folder)
  return app
}

describe('the pages of the documentation', () => {
  const db = forSuite(createDatabase, { prepare: true, sql: 'create table note (id int primary key)' })
  let folder: string
  let app: FastifyInstance
  beforeAll(() => {
    folder = mkdtempSync(join(packageFolder(), 'dist/docs-of-a-test-'))
    mkdirSync(join(folder, 'spec'))
    writeFileSync(join(folder, 'index.html'), '<h1>Start</h1>')
    writeFileSync(join(folder, 'spec/auth.html'), '<h1>Auth</h1>')
    writeFileSync(join(folder, 'llms.txt'), '# Catalograph')
    app = appOf(relative(packageFolder(), folder))
  })
  afterAll(async () => {
    await app.close()
    rmSync(folder, { recursive: true })
  })

  it.each([
    ['/docs/', 'text/html; charset=utf-8', '<h1>Start</h1>'],
    ['/docs/spec/auth.html', 'text/html; charset=utf-8', '<h1>Auth</h1>'],
    ['/docs/llms.txt', 'text/plain; charset=utf-8', '# Catalograph'],
  ])('are served at %s under the policy of the dashboard', async (url, type, body) => {
    const page = await app.inject({ url })
    expect([page.statusCode, page.headers['content-type'], page.body]).toEqual([200, type, body])
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; /,
    )
  })

  it.each([
    ['/docs', 'docs/'],
    ['/llms.txt', 'docs/llms.txt'],
  ])('are reached from %s', async (url, location) => {
    expect((await app.inject({ url })).headers.location).toBe(location)
  })

  it.each([
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2f..%2fpackage.json',
    '/docs/spec',
    '/docs//',
  ])('lead to nothing else (%s)', async (url) => {
    expect((await app.inject({ url })).statusCode).toBe(404)
  })

  it('are read, and not written', async () => {
    for (const method of ['POST', 'PUT', 'DELETE'] as const)
      expect((await app.inject({ url: '/docs/', method })).statusCode).toBe(404)
  })

  it('are named with the command that builds them where they are not', async () => {
    const other = appOf('dist/docs-that-nothing-built')
    const { statusCode, body } = await other.inject({ url: '/docs/' })
    expect([statusCode, JSON.parse(body).message]).toEqual([404, expect.stringContaining('npm run docs')])
    await other.close()
  })

  it.each([
    [{}, 404],
    [{ DOCS: 'on' }, 302],
  ])('are there when %j asks for them', async (settings: Readonly<Record<string, string>>, status) => {
    await whileServed(db, settings, async ({ url }) => {
      for (const path of ['docs', 'llms.txt'])
        expect((await fetch(`${url}/${path}`, { redirect: 'manual' })).status).toBe(status)
    })
  })
})
