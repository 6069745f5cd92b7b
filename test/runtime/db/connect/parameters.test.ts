import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hostsOf, type Host, parametersOf } from '../../../../runtime/db/connect/parameters.ts'

const home = mkdtempSync(join(tmpdir(), 'catalograph-parameters-'))
writeFileSync(
  join(home, '.pg_service.conf'),
  ['# a comment', '[app]', 'host=db.example.com', 'port = 6000', 'password="a;b\\c"', '', '[other]', 'host=other'].join(
    '\n',
  ),
)
const bare = { HOME: home }

describe('connection parameters', () => {
  test('are those of the URL', () => {
    expect(parametersOf('postgres://ann:p%40ss@[::1]:5433/my%20app?sslmode=require&options=-c%20a%3Db', bare)).toEqual({
      host: '::1',
      port: '5433',
      user: 'ann',
      password: 'p@ss',
      dbname: 'my app',
      sslmode: 'require',
      options: '-c a=b',
    })
    expect(parametersOf('postgres:///app?host=/run/postgresql', bare)).toEqual({
      host: '/run/postgresql',
      dbname: 'app',
    })
    expect(parametersOf('postgres://db/?ssl=true', bare)).toEqual({ host: 'db', sslmode: 'require' })
  })

  test('that the URL leaves out are those of the service, then of the environment', () => {
    const environment = {
      ...bare,
      PGSERVICE: 'app',
      PGHOST: 'nowhere',
      PGUSER: 'ann',
      PGSSLMODE: 'verify-full',
      PGPORT: '',
    }
    expect(parametersOf('postgres:///shop', environment)).toEqual({
      service: 'app',
      host: 'db.example.com',
      port: '6000',
      password: '"a;b\\c"',
      user: 'ann',
      sslmode: 'verify-full',
      dbname: 'shop',
    })
    expect(parametersOf('postgres://db/shop?service=other', environment)).toMatchObject({
      host: 'db',
      service: 'other',
    })
  })

  test('of a service that is nowhere described are a fault that names the files', () => {
    const environment = { ...bare, PGSYSCONFDIR: join(home, 'none') }
    expect(() => parametersOf('postgres:///?service=nope', environment)).toThrow(
      `the service nope is described neither in ${home}/.pg_service.conf nor in ${home}/none/pg_service.conf`,
    )
  })

  test('list several hosts, with a port for each or one for all', () => {
    const listed = (url: string, environment = {}): readonly Host[] =>
      hostsOf(parametersOf(url, { ...bare, ...environment }))
    const [a, b] = [
      { host: 'a', port: 5432 },
      { host: 'b', port: 5433 },
    ]
    expect(listed('postgres://ann@a:5432,b:5433/app?sslmode=disable')).toEqual([a, b])
    expect(listed('postgresql://ann:p,w@a,b:5433/app')).toEqual([a, b])
    expect(listed('postgres://[::1]:1,[::2]/app')).toEqual([
      { host: '::1', port: 1 },
      { host: '::2', port: 5432 },
    ])
    expect(listed('postgres:///app?host=a,b&port=5432,5433')).toEqual([a, b])
    expect(listed('postgres:///app', { PGHOST: 'a,/run/postgresql', PGPORT: '6000' })).toEqual([
      { host: 'a', port: 6000 },
      { host: '/run/postgresql', port: 6000 },
    ])
    expect(listed('postgres://a/app')).toEqual([{ host: 'a' }])
    expect(listed('postgres:///app')).toEqual([{}])
    expect(() => listed('postgres://a,b,c/app', { PGPORT: '1,2' })).toThrow('2 ports are given for 3 hosts')
  })

  test('come back from any URL that they are written into', () => {
    const value = fc.string({ minLength: 1, unit: 'grapheme' })
    // As a path both mean a place in a path, however they are written (WHATWG URL, dot segments).
    const name = value.filter((one) => one !== '.' && one !== '..')
    fc.assert(
      fc.property(value, value, name, (user, password, dbname) => {
        const url = new URL(
          `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@db/${encodeURIComponent(dbname)}`,
        )
        expect(parametersOf(url.href, bare)).toEqual({ host: 'db', user, password, dbname })
      }),
    )
  })
})
