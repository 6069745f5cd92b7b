import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { offeredBy, type Service } from '../../../../bench/codegen/editor.ts'
import { createApplication, type Application } from '../../../support/generated-client.ts'

const root = new URL('../../../..', import.meta.url).pathname

/** TypeScript 5 is a package of its own, so that the product's install stays light: `npm run test:documents` installs it. */
const compilers: readonly (readonly [Service, folder: string])[] = [
  ['TypeScript 5.9', join(root, 'bench/codegen/node_modules/typescript')],
  ['TypeScript 7', join(root, 'node_modules/typescript')],
]

const head = (db: string): string => `import { createClient } from '@catalograph/client'
import { post } from '${db}/tables/Post.js'
const posts = post(createClient('https://project.example.com', 'key'))
`
const headLines = head('').split('\n').length - 1

type Mistake = readonly [at: string, meant: string]

/** Wrong calls, with the place of the mistake and a part of its message. */
const wrong: readonly (readonly [call: string, ...mistakes: readonly Mistake[]])[] = [
  ['list({ frist: 3, select: { titel: true } })', ['frist', '"first"'], ['titel', '"title"']],
  ['list({ frist: 3, select: { author: { usernam: true } } })', ['frist', '"first"'], ['usernam', '"username"']],
  [
    'list({ select: { commentCollection: { frist: 3, select: { rows: { bodi: true } } } } })',
    ['frist', '"first"'],
    ['bodi', '"body"'],
  ],
  [
    `list({ filter: { titel: { eq: 'x' } }, select: { titel: true } })`,
    ['titel', `write 'title'`],
    ['titel', `write 'title'`],
  ],
  [`list({ first: 'x', select: { titel: true } })`, ['first', 'Maybe<number>'], ['titel', `write 'title'`]],
  [
    `insert({ objects: [{ titl: 'x', title: 'y' }], select: { afectedCount: true } })`,
    ['titl', '"title"'],
    ['afectedCount', '"affectedCount"'],
  ],
  ['list({ select: { id: true, zzz: true } })', ['zzz', 'NoSuchName<"zzz", never>']],
]

/** Calls that end where something is to be offered, how they go on, and a name to offer. */
const unfinished: readonly (readonly [before: string, after: string, offered: string])[] = [
  ['list({ first: 3, select: { id: true, ', ' } })', 'title'],
  ['list({ first: 3, select: { author: { id: true, ', ' } } })', 'username'],
  ['list({ frist: 3, select: { ', ' } })', 'title'],
  ['list({ first: 3, ', ' select: { id: true } })', 'orderBy'],
  ['list({ filter: { ', ' }, select: { id: true } })', 'title'],
  ['list({ select: { commentCollection: { ', ' } } })', 'first'],
  ['list({ select: { commentCollection: { select: { rows: { id: true, ', ' } } } } })', 'body'],
]

let app: Application
beforeAll(async () => {
  app = createApplication()
  const args = ['--from', join(root, 'generated'), '--out', join(app.folder, 'db'), '--role', 'authenticated']
  expect(await app.codegen(args)).toMatchObject({ exitCode: 0 })
  app.write('wrong.ts', head('./db') + wrong.map(([call]) => `void posts.${call}\n`).join(''))
  mkdirSync(join(app.folder, 'editor'))
})
afterAll(() => app?.remove())

const installed = compilers.filter(([, folder]) => existsSync(folder))

describe.each(installed)('a call of the typed client in %s', { timeout: 120_000 }, (service, folder) => {
  it('has each of its mistakes reported at its place, with the nearest name', () => {
    const told = app.typeCheck(['wrong.ts'], ['--pretty', 'false'], folder)
    const found = [...told.matchAll(/^wrong\.ts\((\d+),(\d+)\): (.*)/gm)].map(([, line, column, said]) => {
      const call = wrong[Number(line) - headLines - 1]?.[0] ?? ''
      return [call, /^\w+/.exec(`void posts.${call}`.slice(Number(column) - 1))?.[0], said]
    })
    expect(found).toEqual(
      wrong.flatMap(([call, ...mistakes]) => mistakes.map(([at, said]) => [call, at, expect.stringContaining(said)])),
    )
  })

  it.each(unfinished)('has names offered while it is being written: %s', async (before, after, offered) => {
    const line = `void posts.${before}`
    const text = `${head('../db')}${line}${after}\n`
    const names = await offeredBy(service, join(app.folder, 'editor'), text, {
      line: headLines,
      character: line.length,
    })
    expect(names).toContain(offered)
    expect(names).not.toContain('globalThis')
  })
})
