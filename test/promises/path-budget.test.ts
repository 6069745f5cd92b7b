import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStatements } from '../../runtime/db/pool/statements.ts'
import { authOwner } from '../../runtime/auth/schema/auth-schema.ts'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import { siteUrl, storeSettings } from '../support/auth.ts'
import { createDatabase } from '../support/database.ts'
import { demoSql } from '../support/examples.ts'
import { forSuite } from '../support/for-suite.ts'
import { commonPath, observeService, type ObservedService, type Path } from '../support/path/path.ts'

/**
 * Promise: what a request enters of the product does not grow. test/budgets.json holds how many files and functions each flow may
 * enter, and what it may ask Postgres. PATHS=FILE appends the figures and what ran.
 */

type Figures = Readonly<Record<'files' | 'functions' | 'statements' | 'roundTrips', number>>

const budgets = JSON.parse(readFileSync(new URL('../budgets.json', import.meta.url), 'utf8')) as {
  readonly paths: Readonly<Record<string, Partial<Figures>>>
}
const secret = 'a secret that has more than thirty-two characters'
const { anon, serviceRole } = projectKeys(secret)
const account = { email: 'reader@example.com', password: 'a password that is long enough' }
const measurements = 5
const mostMeasurements = 10
/** Settings, keys and bans are read again after half a second: slower requests count only if no others are made. */
const quickMs = 400

let service: ObservedService
const db = forSuite(createDatabase, { prepare: 'auth', sql: demoSql() })
beforeAll(async () => {
  const owner = openStatements({
    url: db.ownerUrl,
    schemas: ['auth'],
    role: authOwner,
    poolSize: 1,
    statementTimeout: 0,
  })
  // Many measurements are one source: a limit of zero would leave a stage out of the path.
  await storeSettings(owner.run, { auth_enabled: 'on', site_url: siteUrl, limit_token: '1000000' })
  await owner.close()
  service = await observeService(db, { jwtSecret: secret })
  await post('/auth/v1/admin/users', { ...account, email_confirm: true }, serviceRole)
  held = await signIn()
}, 60_000)
afterAll(() => service?.stop())

const post = async (path: string, body: object, apikey = anon): Promise<any> => {
  const headers = { 'content-type': 'application/json', apikey, authorization: `Bearer ${apikey}` }
  const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return answer.json()
}
const query = 'query Posts($first: Int!) { postCollection(first: $first) { edges { node { id title } } } }'
const ask = async (text: string): Promise<void> => {
  const answer = await post('/graphql/v1', { query: text, variables: { first: 1 } })
  expect(answer.data?.postCollection.edges).toHaveLength(1)
}
const grant = async (name: string, body: object): Promise<Session> => {
  const session = await post(`/auth/v1/token?grant_type=${name}`, body)
  expect(session).toMatchObject({ user: { email: account.email } })
  return session
}
const signIn = (): Promise<Session> => grant('password', account)
/** The session of the last sign-in or refresh. */
let held: Session = { access_token: '', refresh_token: '' }
const refresh = async (): Promise<void> => {
  held = await grant('refresh_token', { refresh_token: held.refresh_token })
}
const readUser = async (): Promise<void> => {
  const headers = { apikey: anon, authorization: `Bearer ${held.access_token}` }
  const answer = await fetch(`${service.url}/auth/v1/user`, { headers })
  expect(await answer.json()).toMatchObject({ email: account.email })
}

interface Session {
  readonly access_token: string
  readonly refresh_token: string
}

/** The way on docs/requests.md that a flow takes. */
const ways: Readonly<Record<string, string>> = {
  'known document': 'A GraphQL request',
  'first answer after DDL': 'A change of the schema, and the next answer',
  'sign-in': 'A sign-in with a password',
}
const [, ...sections] = readFileSync(new URL('../../docs/requests.md', import.meta.url), 'utf8').split(/^## /m)

/** The files in the last column of its table, without those in brackets. */
const filesOfWay = (heading: string): readonly string[] => {
  const section = sections.find((text) => text.startsWith(`${heading}\n`)) ?? ''
  const cells = [...section.matchAll(/^\| \w.*\|(.*)\|$/gm)].map(([, cell = '']) =>
    cell.replace(/\[[^\]]*`[^\]]*\]/g, ''),
  )
  const files = cells.flatMap((cell) => [...cell.matchAll(/`([\w/-]+)\.ts`/g)].map(([, file = '']) => file))
  return [...new Set(files)].map((file) => `${file.startsWith('compiler/') ? '' : 'runtime/'}${file}.js`)
}

interface Flow {
  /** Comes before each measurement. */
  readonly prepare: (round: number) => Promise<unknown>
  readonly request: (round: number) => Promise<unknown>
}

const flows: Readonly<Record<string, Flow>> = {
  'known document': { prepare: () => ask(query), request: () => ask(query) },
  'new document': { prepare: () => ask(query), request: (round) => ask(`${query} # ${round}`) },
  'first answer after DDL': {
    prepare: async (round) => {
      // Requests find the mark that the previous change invalidated: without one the check compares the counter.
      for (let count = 0; count < 4; count += 1) await ask(query).then(() => sleep(50))
      await db.query(`alter table public.posts add column extra_${round} integer`)
    },
    request: () => ask(query),
  },
  // A hash takes long on a busy machine: settings and bans, which hold for a second, are read again before it.
  'sign-in': { prepare: () => signIn().then(readUser), request: signIn },
  refresh: { prepare: refresh, request: refresh },
  'GET /user': { prepare: readUser, request: readUser },
}

const figuresOf = ({ ran, statements, roundTrips }: Path): Figures => ({
  files: Object.keys(ran).length,
  functions: Object.values(ran).flat().length,
  statements,
  roundTrips,
})

const place = process.env['PATHS']
const keep = (name: string, figures: Figures, { ran }: Path): void => {
  if (place === undefined) return
  const lines = Object.entries(ran).flatMap(([file, functions]) => [
    file,
    ...functions.map(({ name: called, calls }) => `  ${calls} ${called}`),
  ])
  writeFileSync(place, `${name} ${JSON.stringify(figures)}\n${lines.join('\n')}\n\n`, { flag: 'a' })
}

/** Counts the measurements of all attempts: a document that was asked in an earlier one is known. */
let round = 0
/** By flow, of all attempts: the more there are, the less of what a busy machine adds is common to them. */
const measured = new Map<string, Path[]>()

describe('the budget of the path of a flow', () => {
  // A longer path is longer each time; what a busy machine adds is not.
  it.each(Object.entries(flows))('holds for: %s', { timeout: 60_000, retry: 2 }, async (name, { prepare, request }) => {
    const paths = measured.get(name) ?? []
    measured.set(name, paths)
    const most = paths.length + mostMeasurements
    for (let quick = 0; quick < measurements && paths.length < most;) {
      round += 1
      await prepare(round)
      const began = performance.now()
      paths.push(await service.pathOf(() => request(round)))
      if (performance.now() - began < quickMs) quick += 1
    }
    const common = commonPath(paths)
    const figures = figuresOf(common)
    keep(name, figures, common)
    const entered = Object.keys(common.ran)
    const way = filesOfWay(ways[name] ?? '')
    if (name in ways) expect(way.length).toBeGreaterThan(9)
    expect(way.filter((file) => !entered.includes(file))).toEqual([])
    for (const [figure, budget] of Object.entries(budgets.paths[name] ?? {}))
      expect(figures[figure as keyof Figures], `${figure} of ${name}`).toBeLessThanOrEqual(budget)
  })
})
