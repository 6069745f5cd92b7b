import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import type { GraphqlError, GraphqlResult } from '../graphql.ts'
import type { Fields } from '../json.ts'
import type { LiveAsk, LiveCall, LiveList } from '../sdk/live-types.ts'
import type { Answer, Answered, Ask, Asked, CheckedAsked, FieldsOf, ListOf } from '../sdk/sdk-types.ts'
import { createListStore, requestPage, settled, type ListPage, type ListState, type Send } from './list-store.ts'
import { createLiveStore, type LiveState, type Watch } from './live-store.ts'
import { useProvided } from './provider.ts'
import type { Change, Update } from './shown.ts'

/** Hooks for React over generated clients (`catalograph codegen`). Errors are values, as those of the client are. */

export { CatalographProvider, useClient, useDb, useUser } from './provider.ts'
export type { CatalographProviderProps, UserState } from './provider.ts'
export type { ListPage } from './list-store.ts'
export type { Change } from './shown.ts'

export interface List<Row> extends ListState<Row> {
  /** Requests the rows after the last one, and appends them. */
  readonly loadMore: () => Promise<void>
  /** Requests again as many pages as are shown. */
  readonly refetch: () => Promise<void>
  /** For `mutate`: shows the rows differently until they are requested again after the mutation, or it has failed. */
  readonly change: (update: Update<Row[]>) => Change
}

export interface Live<Value> extends LiveState<Value> {
  /** For `mutate`: shows the data differently until the next answer after the mutation, or it has failed. */
  readonly change: (update: Update<Value>) => Change
}

type RowsOf<Field> = FieldsOf<Field> extends { readonly rows: infer Rows } ? Rows : never
type RowOf<Field> = RowsOf<Field> extends ListOf<infer Row> ? Row : never
type RowAnswer<Field, Select> = Answered<RowsOf<Field>, Select> extends (infer Row)[] ? Row : never

/** Lists continue at their end. */
interface Forward {
  readonly last?: never
  readonly before?: never
}

/**
 * The rows of a collection, page by page: those after `first` by `loadMore`. They are requested in the browser, and
 * again with other arguments or for another user; the arguments are compared by value.
 * @param page the method `page` of a table
 * @param options `initial`: the data of `loadList` on the server, which is not requested again at first
 */
export function useList<Field, Args, const Given extends Asked<RowOf<Field>, Args>>(
  page: Ask<Field, Args>,
  given: Given & CheckedAsked<RowOf<Field>, Args, Given> & Forward,
  { initial }: { readonly initial?: ListPage<RowAnswer<Field, Given['select']>> } = {},
): List<RowAnswer<Field, Given['select']>> {
  const { store, ready } = useStore([page, keyOf(given)], (isFirst) =>
    createListStore<RowAnswer<Field, Given['select']>>(
      page as unknown as Send,
      given as Fields,
      isFirst ? initial : undefined,
    ),
  )
  const state = useSyncExternalStore(store.subscribe, store.get, store.get)
  useEffect(() => {
    if (ready) store.start()
  }, [store, ready])
  const { loadMore, refetch, change } = store
  return { ...state, loadMore, refetch, change }
}

/** Requests what `useList` shows first, for a server that renders. Never rejects. */
export function loadList<Field, Args, const Given extends Asked<RowOf<Field>, Args>>(
  page: Ask<Field, Args>,
  given: Given & CheckedAsked<RowOf<Field>, Args, Given> & Forward,
): Promise<GraphqlResult<ListPage<RowAnswer<Field, Given['select']>>>> {
  return requestPage(page as unknown as Send, given as Fields, null)
}

export interface LiveHookOptions<Value> {
  /** The data that a server has rendered: of `list` or `get` with the same arguments. */
  readonly initial?: Value
  /** As for `live` of the client. */
  readonly patch?: boolean
}

/**
 * Watches by a method such as `live` of a table, while the component is mounted. The stream is opened in the browser,
 * and again with other arguments or for another user; the arguments are compared by value.
 */
export function useLive<Row, Args, const Given extends Asked<Row, Args>>(
  watch: LiveList<Row, Args>,
  given: Given & CheckedAsked<Row, Args, Given>,
  options?: LiveHookOptions<Answer<Row, Given['select']>[]>,
): Live<Answer<Row, Given['select']>[]>
export function useLive<Field, Args, const Given extends Asked<FieldsOf<Field>, Args>>(
  watch: LiveAsk<Field, Args>,
  given: Given & CheckedAsked<FieldsOf<Field>, Args, Given>,
  options?: LiveHookOptions<Answered<Field, Given['select']>>,
): Live<Answered<Field, Given['select']>>
export function useLive<Value, Args>(
  watch: LiveCall<Value, Args>,
  given: Args,
  options?: LiveHookOptions<Value>,
): Live<Value>
export function useLive<Value>(watch: unknown, given: unknown, options: LiveHookOptions<Value> = {}): Live<Value> {
  const { store, ready } = useStore([watch, keyOf([given, options.patch])], (isFirst) =>
    createLiveStore(watch as Watch<Value>, given as Fields, options.patch, isFirst ? options.initial : undefined),
  )
  const state = useSyncExternalStore(store.subscribe, store.get, store.get)
  useEffect(() => (ready ? store.start() : undefined), [store, ready])
  return { ...state, change: store.change }
}

export interface Mutation<Mutate> {
  /** Sends it, and shows the changes of lists at once. Never rejects; the same function in every rendering. */
  readonly mutate: Mutate
  /** One at least is on its way. */
  readonly pending: boolean
  /** Of the last one that ended; null again when the next one begins. */
  readonly error: GraphqlError | null
}

export type MutateAsk<Field, Args> = <const Given extends Asked<FieldsOf<Field>, Args>>(
  given: Given & CheckedAsked<FieldsOf<Field>, Args, Given>,
  ...changes: readonly Change[]
) => Promise<GraphqlResult<Answered<Field, Given['select']>>>

export type MutateCall<Value, Args> = (given: Args, ...changes: readonly Change[]) => Promise<GraphqlResult<Value>>

/** A method that writes, such as `insert` of a table, or any function that resolves with a result of the client. */
export function useMutation<Field, Args>(send: Ask<Field, Args>): Mutation<MutateAsk<Field, Args>>
export function useMutation<Value, Args>(
  send: (given: Args) => Promise<GraphqlResult<Value>>,
): Mutation<MutateCall<Value, Args>>
export function useMutation(send: unknown): Mutation<MutateCall<unknown, Fields>> {
  const [{ running, error }, setState] = useState<MutationState>({ running: 0, error: null })
  const mutate = useCallback(
    async (given: Fields, ...changes: readonly Change[]) => {
      const shown = changes.map((show) => show())
      setState(({ running }) => ({ running: running + 1, error: null }))
      const result = await settled((send as Send)(given))
      for (const { confirm, drop } of shown) (result.error === null ? confirm : drop)()
      setState(({ running }) => ({ running: running - 1, error: result.error }))
      return result
    },
    [send],
  )
  return { mutate, pending: running > 0, error }
}

interface MutationState {
  readonly running: number
  readonly error: GraphqlError | null
}

/** The store of these parts and of the caller: other parts have a new one, so that no answer comes to the wrong place. */
function useStore<Store>(parts: readonly unknown[], create: (isFirst: boolean) => Store): Stored<Store> {
  const { caller } = useProvided()
  const own = [...parts, caller.turn]
  const [held, hold] = useState(() => ({ own, store: create(true) }))
  const ready = !caller.loading
  if (own.every((part, index) => part === held.own[index])) return { store: held.store, ready }
  const next = { own, store: create(false) }
  hold(next)
  return { store: next.store, ready }
}

interface Stored<Store> {
  readonly store: Store
  /** Whether the caller is known. */
  readonly ready: boolean
}

const keyOf = (given: unknown): string =>
  JSON.stringify(given, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
