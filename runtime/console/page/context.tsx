import { createContext, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import type { ProjectAnswer } from '../admin/call.ts'
import type { Answered, Api, Refusal, Result } from './api.ts'
import { createBearers, type BearerOf, type Whom } from './whom.ts'

/** The context of every panel once the owner has entered the key. */
export interface PageContext {
  readonly api: Api
  readonly project: ProjectAnswer
  /** The role or user that runs documents; all panels share it. */
  readonly whom: Whom
  readonly actAs: (whom: Whom) => void
  /** The document that GraphiQL shows next; null: the previous one. */
  readonly opened: string | null
  readonly openDocument: (document: string | null) => void
}

const ReactPageContext = createContext<PageContext | null>(null)

export const PageContextProvider = ReactPageContext.Provider

export function usePageContext(): PageContext {
  const context = useContext(ReactPageContext)
  if (context === null) throw new Error('A panel stands outside of PageContextProvider.')
  return context
}

/** Tokens of the chosen user, requested on demand. */
export function useBearers(): BearerOf {
  const { api, project } = usePageContext()
  return useMemo(() => createBearers(api, project), [api, project])
}

export type AdminAnswer<T> = Result<T> | { readonly kind: 'waiting' }

type Reloaded<T> = readonly [AdminAnswer<T>, reload: () => void]

/** The answer of a path below the project's address, asked on first render and whenever it changes; an outdated answer is dropped. */
export function useAdminAnswer<T>(path: string): Reloaded<T> {
  const { api } = usePageContext()
  const [asked, setAsked] = useState<AdminAnswer<T>>({ kind: 'waiting' })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let current = true
    void api.call<T>('GET', path).then((result) => {
      if (current) setAsked(result)
    })
    return () => {
      current = false
    }
  }, [api, path, turn])
  return [asked, useCallback(() => setTurn((before) => before + 1), [])]
}

/** The refusal of a panel's last action, and a function that stores it and returns whether the action succeeded. */
export function useRefusal(): readonly [Refusal | null, isDone: <T>(result: Result<T>) => result is Answered<T>] {
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const isDone = <T,>(result: Result<T>): result is Answered<T> => {
    setRefusal(result.kind === 'refused' ? result.refusal : null)
    return result.kind === 'answer'
  }
  return [refusal, isDone]
}
