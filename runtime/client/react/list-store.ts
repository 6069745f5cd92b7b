import { toGraphqlError, type GraphqlResult } from '../graphql.ts'
import type { Fields } from '../json.ts'
import { createShown, type Change, type Shown, type ShownState, type Update } from './shown.ts'

/** The first rows of a list, for `initial`. */
export interface ListPage<Row> {
  readonly rows: Row[]
  readonly endCursor: string | null
  readonly hasMore: boolean
}

export interface ListState<Row> extends ShownState<Row[]> {
  /** There are rows after the last one. */
  readonly hasMore: boolean
}

export interface ListStore<Row> extends Pick<Shown<Row[], ListState<Row>>, 'get' | 'subscribe'> {
  /** Requests the rows unless there are some or they are on their way. */
  readonly start: () => void
  readonly refetch: () => Promise<void>
  readonly loadMore: () => Promise<void>
  readonly change: (update: Update<Row[]>) => Change
}

export type Send = (given: Fields) => Promise<GraphqlResult<unknown>>

/** Requests a page: the first, or the one after a cursor. Never rejects. */
export async function requestPage<Row>(
  send: Send,
  given: Fields,
  after: string | null,
): Promise<GraphqlResult<ListPage<Row>>> {
  const place = after === null ? {} : { after, offset: undefined }
  const select = { rows: given['select'], pageInfo: { endCursor: true, hasNextPage: true } }
  const result = await settled(send({ ...given, ...place, select }))
  if (result.error !== null) return result
  const { rows, pageInfo } = result.data as {
    rows: Row[]
    pageInfo: { endCursor: string | null; hasNextPage: boolean }
  }
  return { ...result, data: { rows, endCursor: pageInfo.endCursor, hasMore: pageInfo.hasNextPage } }
}

/** Input that the declarations exclude is an error as well: React cannot catch what a promise rejects with. */
export async function settled<Value>(sent: Promise<GraphqlResult<Value>>): Promise<GraphqlResult<Value>> {
  try {
    return await sent
  } catch (thrown) {
    return { data: null, error: toGraphqlError(thrown), extensions: {} }
  }
}

export function createListStore<Row>(send: Send, given: Fields, initial?: ListPage<Row>): ListStore<Row> {
  const shown = createShown<Row[], ListState<Row>>({
    data: initial?.rows,
    hasMore: initial?.hasMore ?? false,
    loading: initial === undefined,
    error: null,
  })
  let [rows, endCursor] = [initial?.rows ?? [], initial?.endCursor ?? null]
  // Of the pages; `wanted` has one more while it is on its way, so that a refetch brings it too.
  let [loaded, wanted] = [initial === undefined ? 0 : 1, 1]
  // Answers to earlier requests are dropped.
  let latest = 0

  const refetch = async (): Promise<void> => {
    const own = ++latest
    const contained = shown.confirmed()
    shown.dropWaiting()
    shown.set({ loading: true })
    const found: Row[] = []
    let [cursor, hasMore, count]: [string | null, boolean, number] = [null, true, 0]
    while (hasMore && count < wanted) {
      const { data, error }: GraphqlResult<ListPage<Row>> = await requestPage<Row>(send, given, cursor)
      if (own !== latest) return
      if (error !== null) return shown.set({ loading: false, error })
      found.push(...data.rows)
      ;[cursor, hasMore, count] = [data.endCursor, data.hasMore, count + 1]
    }
    ;[rows, endCursor, loaded, wanted] = [found, cursor, count, count]
    shown.answer({ data: rows, hasMore, loading: false, error: null }, contained)
  }
  const loadMore = async (): Promise<void> => {
    const { hasMore, loading } = shown.get()
    if (loading || !hasMore) return
    const own = ++latest
    wanted = loaded + 1
    shown.set({ loading: true })
    const { data, error } = await requestPage<Row>(send, given, endCursor)
    if (own !== latest) return
    if (error !== null) {
      wanted = loaded
      return shown.set({ loading: false, error })
    }
    ;[rows, endCursor, loaded] = [[...rows, ...data.rows], data.endCursor, wanted]
    shown.answer({ data: rows, hasMore: data.hasMore, loading: false, error: null }, [])
  }
  return {
    get: shown.get,
    subscribe: shown.subscribe,
    start: () => {
      if (loaded === 0 && latest === 0) void refetch()
    },
    refetch,
    loadMore,
    change: (update) => shown.change(update, () => void refetch()),
  }
}
