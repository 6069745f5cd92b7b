import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'
import { GraphqlError, type GraphqlResult } from '../../../../runtime/client/graphql.ts'
import type { LiveListener } from '../../../../runtime/client/live/live.ts'
import { createListStore, type ListStore } from '../../../../runtime/client/react/list-store.ts'
import { createLiveStore } from '../../../../runtime/client/react/live-store.ts'

const dist = new URL('../../../../runtime/client/dist/', import.meta.url).pathname

/** Compressed, with nothing of React. */
async function sizeOf(modules: readonly string[]): Promise<number> {
  const plugin = {
    name: 'entry',
    resolveId: (id: string) => (id === 'entry' ? id : null),
    load: (id: string) => (id === 'entry' ? modules.map((one) => `export * from '${dist}${one}'`).join('\n') : null),
  }
  const build = await rolldown({ input: 'entry', platform: 'browser', external: 'react', plugins: [plugin] })
  const { output } = await build.generate({ format: 'esm', minify: true })
  await build.close()
  return gzipSync(output[0].code, { level: 9 }).length
}

const done = (data: unknown): GraphqlResult<unknown> => ({ data, error: null, extensions: {} })
const failed: GraphqlResult<unknown> = {
  data: null,
  error: new GraphqlError('DATABASE_REFUSED', 'no', { status: 200 }),
  extensions: {},
}

/** Rows of a service, which reads when a request comes and answers when it is released. */
function createTable(): { readonly rows: number[]; readonly open: (() => void)[]; readonly store: ListStore<number> } {
  const rows = [10, 20, 30, 40, 50, 60]
  const open: (() => void)[] = []
  const send = ({ after, first }: { readonly after?: string; readonly first?: number }) => {
    const from = rows.filter((row) => after === undefined || row > Number(after))
    const page = from.slice(0, first)
    const pageInfo = { endCursor: page.at(-1)?.toString() ?? null, hasNextPage: from.length > page.length }
    return new Promise<GraphqlResult<unknown>>((resolve) => open.push(() => resolve(done({ rows: page, pageInfo }))))
  }
  return { rows, open, store: createListStore<number>(send, { first: 2, select: {} }) }
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

describe('the hooks beside the client', () => {
  it('are under 4 kB, minified and compressed', async () => {
    const [alone, both] = [await sizeOf(['client.js']), await sizeOf(['client.js', 'react/react.js'])]
    expect(both - alone).toBeGreaterThan(0)
    expect(both - alone).toBeLessThan(4_000)
  })
})

describe('the rows of a list', () => {
  it('are those of the last request, whatever comes later', async () => {
    const { rows, open, store } = createTable()
    store.start()
    rows.splice(0, 2)
    void store.refetch()
    open[1]?.()
    await turns()
    open[0]?.()
    await turns()
    expect(store.get()).toMatchObject({ data: [30, 40], hasMore: true, loading: false })
  })

  it('are those of the service and each once, in whatever order mutations, pages and answers come', async () => {
    const kind = fc.constantFrom('more', 'refetch', 'begin', 'commit', 'confirm', 'fail', 'answer', 'answer')
    const step = fc.record({ kind, n: fc.integer({ min: 1, max: 25 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40 }), async (steps) => {
        const { rows, open, store } = createTable()
        const mutations: { readonly row: number; committed: boolean; readonly end: (result: boolean) => void }[] = []
        const begin = (row: number): void => {
          if (rows.includes(row) || mutations.some((one) => one.row === row)) return
          const { confirm, drop } = store.change((all) => [...all, row])()
          mutations.push({ row, committed: false, end: (isDone) => (isDone ? confirm : drop)() })
        }
        const commit = (one: (typeof mutations)[number] | undefined): void => {
          if (one === undefined || one.committed) return
          one.committed = true
          rows.push(one.row)
          rows.sort((a, b) => a - b)
        }
        store.start()
        for (const { kind, n } of steps) {
          if (kind === 'more') void store.loadMore()
          else if (kind === 'refetch') void store.refetch()
          else if (kind === 'begin') begin(n)
          else if (kind === 'commit') commit(mutations[n % Math.max(1, mutations.length)])
          else if (kind === 'answer') open.splice(n % Math.max(1, open.length), 1)[0]?.()
          else {
            const [one] = mutations.splice(n % Math.max(1, mutations.length), 1)
            // One that is committed succeeds.
            if (kind === 'confirm') commit(one)
            one?.end(one.committed)
          }
          await turns()
          const { data = [] } = store.get()
          expect(new Set(data).size, `${data.join()}`).toBe(data.length)
        }
        for (const one of mutations) one.end(one.committed)
        for (; open.length > 0; await turns()) open.splice(0).forEach((answer) => answer())
        void store.refetch()
        for (await turns(); open.length > 0; await turns()) open.splice(0).forEach((answer) => answer())
        const { data = [], hasMore, loading } = store.get()
        expect(data).toEqual(rows.slice(0, data.length))
        expect([hasMore, loading]).toEqual([data.length < rows.length, false])
      }),
      { numRuns: 300 },
    )
  })

  it('are as many after a refetch as were asked for, the page that was on its way among them', async () => {
    const { open, store } = createTable()
    store.start()
    open[0]?.()
    await turns()
    void store.loadMore()
    void store.refetch()
    for (; open.length > 0; await turns()) open.splice(0).forEach((answer) => answer())
    expect(store.get()).toMatchObject({ data: [10, 20, 30, 40], hasMore: true, loading: false })
  })

  it('stay when a request fails, and the error is there', async () => {
    const answers = [done({ rows: [1], pageInfo: { endCursor: 'x', hasNextPage: true } }), failed]
    const store = createListStore(async () => answers.shift() ?? failed, { select: {} })
    store.start()
    await turns()
    await store.loadMore()
    expect(store.get()).toMatchObject({ data: [1], hasMore: true, loading: false, error: failed.error })
  })
})

describe('a live value', () => {
  it('waits with answers while a mutation runs and a moment longer, and takes the last in place of the change', async () => {
    let hear: LiveListener<number[]> = () => undefined
    const stream = { stop: () => undefined, done: Promise.resolve({ error: null }) }
    const store = createLiveStore<number[]>((_given, listener) => ((hear = listener), stream), {})
    store.start()
    hear({ data: [1], error: null, extensions: {} })
    const { confirm } = store.change((all) => [...all, 2])()
    hear({ data: [1, 2], error: null, extensions: {} })
    expect(store.get().data).toEqual([1, 2])
    confirm()
    // That answer may be of another change; the last one within a moment is taken.
    hear({ data: [0, 1, 2], error: null, extensions: {} })
    expect(store.get().data).toEqual([1, 2])
    await expect.poll(() => store.get().data, { interval: 5 }).toEqual([0, 1, 2])
    const { drop } = store.change((all) => [...all, 3])()
    drop()
    expect(store.get().data).toEqual([0, 1, 2])
  })
})
