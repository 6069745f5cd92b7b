import {
  createContext,
  createElement,
  useContext,
  useMemo,
  useState,
  useSyncExternalStore,
  type ReactElement,
  type ReactNode,
} from 'react'
import type { Client } from '../client.ts'
import type { User } from '../types.ts'
import { createCallerStore, type Caller } from './caller-store.ts'

interface Provided {
  readonly client: Client
  readonly caller: Caller
  /** Objects that were made from the client, by the functions that made them. */
  readonly made: Map<unknown, unknown>
}

const context = createContext<Provided | null>(null)

export interface CatalographProviderProps {
  readonly client: Client
  /**
   * Where a server renders: the user for whom it does, or null, there and in the browser. Left out, the hooks wait until
   * the client knows who is signed in.
   */
  readonly user?: User | null
  readonly children?: ReactNode
}

/** Gives the hooks below it a client. */
export function CatalographProvider({ client, user, children }: CatalographProviderProps): ReactElement {
  const [first] = useState(user)
  const held = useMemo(() => ({ store: createCallerStore(client.auth, first), made: new Map() }), [client, first])
  const { subscribe, get, getFirst } = held.store
  const caller = useSyncExternalStore(subscribe, get, getFirst)
  const value = useMemo(() => ({ client, caller, made: held.made }), [client, caller, held])
  return createElement(context.Provider, { value }, children)
}

/** Throws Error without a provider above. */
export function useProvided(): Provided {
  const provided = useContext(context)
  if (provided === null) throw new Error('There is no <CatalographProvider client={...}> above this component')
  return provided
}

/** The client of the nearest provider. */
export const useClient = (): Client => useProvided().client

/** Calls a generated function, such as `createDb`, with the client: the same object in every component. */
export function useDb<Db>(createDb: (client: Client) => Db): Db {
  const { client, made } = useProvided()
  if (!made.has(createDb)) made.set(createDb, createDb(client))
  return made.get(createDb) as Db
}

export interface UserState {
  readonly user: User | null
  /** Whether it is not known yet who is signed in. */
  readonly loading: boolean
}

/** The user who is signed in: also after a sign-in or sign-out, here or in another tab. */
export function useUser(): UserState {
  const { user, loading } = useProvided().caller
  return { user, loading }
}
