import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientFiles } from '../../../../compiler/commands/codegen/client.ts'
import { layOut } from '../../../../compiler/commands/codegen/layout.ts'
import { functionsOf } from '../../../../compiler/commands/codegen/methods.ts'
import { createApplication, type Application } from '../../../support/generated-client.ts'
import { expectedSchema } from '../../../support/golden/sdl.ts'

const root = new URL('../../../..', import.meta.url).pathname
const scalars = ['--scalars', 'BigInt=bigint,Datetime=Date']

let app: Application
beforeAll(() => {
  app = createApplication()
})
afterAll(() => app?.remove())

describe('the client of the demo', () => {
  const out = (): readonly string[] => ['--from', join(root, 'generated'), '--out', join(app.folder, 'sdk'), ...scalars]

  it.each(['nodenext', 'esnext'])('distinguishes right uses from wrong ones (%s)', async (module) => {
    expect(await app.codegen([...out(), '--role', 'authenticated'])).toMatchObject({ exitCode: 0 })
    app.write('use.ts', readFileSync(new URL('types.txt', import.meta.url), 'utf8'))
    const resolution = module === 'esnext' ? ['--moduleResolution', 'bundler'] : []
    expect(app.typeCheck(['use.ts'], ['--module', module, ...resolution])).toBe('')
  })

  it('takes the example of its page', async () => {
    const to = ['--from', join(root, 'generated'), '--out', join(app.folder, 'db'), '--role', 'authenticated']
    await app.codegen([...to, '--scalars', 'Datetime=Date'])
    const [, text = ''] =
      /## Typed client[^]*?```ts\n([^]*?)```/.exec(readFileSync(join(root, 'docs/client.md'), 'utf8')) ?? []
    expect(text).toContain('createDb')
    app.write('example.ts', `declare const process: { env: Record<string, string | undefined> }\n${text}`)
    expect(app.typeCheck(['example.ts'])).toBe('')
  })

  it('lacks what the role may not do', async () => {
    await app.codegen([...out(), '--role', 'anon'])
    app.write(
      'anon.ts',
      `import type { Db } from './sdk/db.js'
       import type { Post, User } from './sdk/rows.js'
       export const title: keyof Post = 'title'
       // @ts-expect-error anon sees no addresses
       export const email: keyof User = 'email'
       // @ts-expect-error anon writes nothing
       export type Insert = Db['post']['insert']
       // @ts-expect-error bookmarks are for members
       export type Bookmarks = Db['bookmark']`,
    )
    expect(app.typeCheck(['anon.ts'])).toBe('')
    expect(readdirSync(join(app.folder, 'sdk/tables'))).not.toContain('Bookmark.d.ts')
  })
})

describe('the client of any schema', () => {
  const cases = readdirSync(join(root, 'fixtures')).flatMap((name) => {
    try {
      return [[name, expectedSchema(name)] as const]
    } catch {
      return []
    }
  })

  it('is one that compilers and engines take', async () => {
    expect(cases.length).toBeGreaterThan(10)
    const declarations = cases.flatMap(([name, schema]) => {
      const files = clientFiles(schema, {})
      return Object.entries(files).map(([path, text]) => [`${name}/${path}`, text] as const)
    })
    for (const [path, text] of declarations) app.write(path, text)
    const typed = declarations.flatMap(([path]) => (path.endsWith('.d.ts') ? [path] : []))
    expect(app.typeCheck(typed)).toBe('')
    for (const [path] of declarations) if (path.endsWith('.js')) await app.load(path)
  })
})

describe('an argument called select', () => {
  const schema = buildSchema('type Query { found(select: Int): Hit, counted(select: Int): Int } type Hit { id: Int }')

  it('is one of a plain value alone: of an object, it would stand where the selection does', () => {
    expect(functionsOf(layOut(schema)).map(({ name }) => name)).toEqual(['counted'])
  })
})

describe('the folder of a client', () => {
  const from = ['--from', join(root, 'generated'), '--role', 'anon']

  it('needs a package, which codegen names where it is not installed', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'catalograph-codegen-'))
    expect((await app.codegen([...from, '--out', join(elsewhere, 'sdk')])).noted).toContain(
      'they import @catalograph/client, which is not installed there: npm install @catalograph/client',
    )
    expect((await app.codegen([...from, '--out', join(app.folder, 'with')])).noted).not.toContain('npm install')
  })

  it('is checked, and corrected by the next run', async () => {
    const out = ['--out', join(app.folder, 'checked')]
    expect((await app.codegen([...from, ...out, '--check'])).exitCode).toBe(1)
    expect(await app.codegen([...from, ...out])).toMatchObject({
      exitCode: 0,
      printed: expect.stringMatching(/(\d+) files, \1 of them/),
    })
    expect(await app.codegen([...from, ...out, '--check'])).toMatchObject({ exitCode: 0, printed: '' })
    expect((await app.codegen([...from, ...out])).printed).toMatch(/ 0 of them changed/)

    const stale = readFileSync(join(app.folder, 'checked/tables/Post.js'), 'utf8')
    app.write('checked/tables/Gone.js', stale)
    app.write('checked/tables/Post.js', stale.replace('viewCount', 'viewCounts'))
    app.write('checked/notes.txt', 'mine')
    const checked = await app.codegen([...from, ...out, '--scalars', 'BigInt=bigint', '--check'])
    expect(checked.exitCode).toBe(1)
    expect(checked.printed).toMatch(
      /rows.d.ts \(changed\)[^]*-  readonly viewCount: string[^]*tables\/Gone.js \(removed\)/,
    )
    expect(checked.printed).not.toContain('notes.txt')
    await app.codegen([...from, ...out])
    expect(await app.codegen([...from, ...out, '--check'])).toMatchObject({ exitCode: 0, printed: '' })
    expect(readdirSync(join(app.folder, 'checked'))).toContain('notes.txt')
    expect(readdirSync(join(app.folder, 'checked/tables'))).not.toContain('Gone.js')
  })

  it('is left alone where another program has a file that codegen would write', async () => {
    app.write('theirs/db.js', 'export const mine = 1')
    const answer = await app.codegen([...from, '--out', join(app.folder, 'theirs')])
    expect(answer).toMatchObject({
      exitCode: 1,
      noted: expect.stringContaining('theirs/db.js was not made by codegen'),
    })
    expect(readdirSync(join(app.folder, 'theirs'))).toEqual(['db.js'])
  })

  it('needs a name', async () => {
    expect(await app.codegen(from)).toMatchObject({ exitCode: 2, noted: expect.stringContaining('--out is needed') })
  })
})
