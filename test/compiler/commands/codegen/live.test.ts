import { GraphQLObjectType, GraphQLSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { clientFiles, type Files } from '../../../../compiler/commands/codegen/client.ts'
import type { Readings } from '../../../../compiler/commands/codegen/source.ts'
import { createClient } from '../../../../runtime/client/client.ts'
import type { Socket } from '../../../../runtime/client/environment.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createApplication, type Application } from '../../../support/generated-client.ts'
import { expectedSchema } from '../../../support/golden/sdl.ts'
import { livePeerSchema, startLivePeer } from '../../../support/live-peer.ts'

let app: Application
beforeAll(() => {
  app = createApplication()
})
afterAll(() => app?.remove())

const readings: Readings = { BigInt: 'bigint', Datetime: 'Date' }

/** A schema in which these fields of Query can be watched. */
function watching(schema: GraphQLSchema, names: readonly string[]): GraphQLSchema {
  const config = schema.toConfig()
  const fields = Object.entries(config.query?.toConfig().fields ?? {}).filter(([name]) => names.includes(name))
  const subscription = new GraphQLObjectType({ name: 'Subscription', fields: Object.fromEntries(fields) })
  return new GraphQLSchema({ ...config, subscription })
}

function write(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) app.write(`${folder}/${path}`, text)
}

describe('the client of a schema that can be watched', () => {
  const schema = expectedSchema('functions')
  const names = ['taskCollection', 'taskByPk', 'hello', 'big', 'first_task', 'node']

  it('has a method that watches for each that reads, typed alike', () => {
    write('all', clientFiles(watching(schema, names), readings))
    app.write(
      'use.ts',
      `import { createClient } from '@catalograph/client'
       import type { GraphqlResult, LiveStream } from '@catalograph/client'
       import { createDb } from './all/db.js'
       import { createLiveFunctions } from './all/functions.js'
       type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
       const holds = <T extends true>(): T | undefined => undefined
       const client = createClient('https://project.example.com', 'key')
       const { task } = createDb(client)
       const functions = createLiveFunctions(client)
       interface Row { readonly id: number; readonly title: string | null }
       const stream: LiveStream = task.live({ first: 3, select: { id: true, title: true } }, (result) => {
         holds<Equal<typeof result, GraphqlResult<Row[]>>>()
       }, { patch: true })
       stream.stop()
       task.livePage({ select: { pageInfo: { endCursor: true } } }, ({ data }) => {
         holds<Equal<typeof data, { readonly pageInfo: { readonly endCursor: string | null } } | null>>()
       })
       task.liveGet({ id: 1, select: { title: true } }, ({ data, error }) => {
         if (error === null) holds<Equal<typeof data, { readonly title: string | null } | null>>()
       })
       functions.hello({ name: 'Ada' }, ({ data }) => holds<Equal<typeof data, string | null>>())
       functions.big({}, ({ data }) => holds<Equal<typeof data, bigint | null>>())
       functions.first_task({ select: { id: true } }, ({ data }) => holds<Equal<typeof data, { readonly id: number } | null>>())
       // @ts-expect-error it cannot be watched
       functions.add({ a: 1 }, () => undefined)
       // @ts-expect-error there is no listener
       task.live({ select: { id: true } })
       // @ts-expect-error a client that cannot watch
       createDb({ graphql: client.graphql })`,
    )
    expect(app.typeCheck(['use.ts'])).toBe('')
  })

  it('reports a name that does not exist', () => {
    write('all', clientFiles(watching(schema, names), readings))
    app.write(
      'wrong.ts',
      `import type { Db } from './all/db.js'
       declare const db: Db
       db.task.live({ frist: 3, select: { titel: true } }, () => undefined)`,
    )
    const told = app.typeCheck(['wrong.ts'], ['--pretty', 'false'])
    expect([told.includes('NoSuchName<"frist"'), told.includes('"titel", "title"')], told).toEqual([true, true])
  })

  it('is the one that it was, but for what watches', () => {
    const [before, after] = [clientFiles(schema, readings), clientFiles(watching(schema, names), readings)]
    expect(Object.keys(after)).toEqual(Object.keys(before))
    const without = (text: string | undefined): string =>
      (text ?? '')
        .replaceAll(/^ *(\/\*\* Watches.*\*\/|readonly live\w*: .*|live\w*: .*)\n/gm, '')
        .replaceAll('sdk.Watcher', 'sdk.Asker')
    for (const [path, text] of Object.entries(before))
      if (!path.startsWith('functions')) expect(without(after[path]), path).toBe(text)
    expect(after['functions.js']).toContain(before['functions.js']?.trimEnd())
    expect(Object.values(before).join()).not.toMatch(/watch|live/i)
  })
})

describe('a generated client that watches', () => {
  const peer = forSuite(startLivePeer)

  it('asks with its arguments and hears what the service answers', async () => {
    write(
      'peer',
      clientFiles(
        livePeerSchema(() => neverCalled()),
        {},
      ),
    )
    const { createLiveFunctions } = await app.load('peer/functions.js')
    const client = createClient(peer.url, 'key', {
      environment: { openSocket: (url, protocol) => new WebSocket(url, protocol) as unknown as Socket },
    })
    peer.say(['one'])
    const heard: unknown[] = []
    const functions = createLiveFunctions(client)
    const stream = functions.titles({ first: 2 }, ({ data }: { data: unknown }) => heard.push(data))
    await expect.poll(() => heard).toEqual([['one']])
    peer.say(['two'])
    await expect.poll(() => heard).toEqual([['one'], ['two']])
    expect(() => functions.titles({ frist: 2 }, () => undefined)).toThrow(TypeError)
    const { createDb } = await app.load('peer/db.js')
    const rows: unknown[] = []
    const { post } = createDb(client)
    post.live({ first: 2, select: { title: true } }, ({ data }: { data: unknown }) => rows.push(data))
    await expect.poll(() => rows).toEqual([[{ title: 'two' }]])
    client.close()
    expect(await stream.done).toEqual({ error: null })
  })
})

function neverCalled(): never {
  throw new Error('Nobody subscribes to it.')
}
