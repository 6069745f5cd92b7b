import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { ownerRoutes } from '../../../runtime/console/admin/routes.ts'
import { routes } from '../../../runtime/auth/http/routes.ts'
import { startAuthServer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'

/** That answers are as described is checked wherever tests ask: test/support/described.ts. */

const server = forSuite(startAuthServer, { settings: null })

const below = (prefix: string, rows: readonly { readonly at: string }[]): readonly string[] =>
  rows.map(({ at }) => at.replace(' ', ` ${prefix}`))

describe('GET /openapi.json', () => {
  it('is a valid description, without a key and before auth is enabled', async () => {
    const response = await fetch(`${server.url}/openapi.json`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    const verdict = await new Validator().validate((await response.json()) as Record<string, unknown>)
    expect(verdict.errors ?? []).toEqual([])
    expect(verdict.valid).toBe(true)
  })

  it('describes every row of both tables', async () => {
    const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>
    }
    const told = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    )
    const served = [...below('/auth/v1', routes), ...below('/admin/v1', ownerRoutes)]
    expect(told.sort()).toEqual(served.sort())
  })
})
