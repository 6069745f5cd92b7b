import { createContext, useCallback, useContext, useEffect, useState } from 'react'
import type { ProjectAnswer } from '../admin/answers.ts'
import type { Answered, Api, Refusal, Result } from './api.ts'
import type { Whom } from './whom.ts'

/** What every panel has at hand once the owner has shown the key. */
export interface PageContext {
  readonly api: Api
  readonly project: ProjectAnswer
  /** As whom documents are run; chosen in one panel, it holds in all. */
  readonly whom: Whom
  readonly actAs: (whom: Whom) => void
  /** What GraphiQL shows when it is opened next; null: what it showed before. */
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

export type AdminAnswer<T> = Result<T> | { readonly kind: 'waiting' }

type Reloaded<T> = readonly [AdminAnswer<T>, reload: () => void]

/** What a path below the project's address gives. */
export function useAdminAnswer<T>(path: string): Reloaded<T> {
  return useAnswerOf(useCallback((api: Api) => api.call<T>('GET', path), [path]))
}

/** Asks when it is first shown and whenever `ask` changes; an answer that another question has overtaken is dropped. */
export function useAnswerOf<T>(ask: (api: Api) => Promise<Result<T>>): Reloaded<T> {
  const { api } = usePageContext()
  const [asked, setAsked] = useState<AdminAnswer<T>>({ kind: 'waiting' })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let current = true
    void ask(api).then((result) => {
      if (current) setAsked(result)
    })
    return () => {
      current = false
    }
  }, [api, ask, turn])
  return [asked, useCallback(() => setTurn((before) => before + 1), [])]
}

/** Why the last of a panel's acts was refused, and what takes it from a result: whether the act was done. */
export function useRefusal(): readonly [Refusal | null, isDone: <T>(result: Result<T>) => result is Answered<T>] {
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const isDone = <T,>(result: Result<T>): result is Answered<T> => {
    setRefusal(result.kind === 'refused' ? result.refusal : null)
    return result.kind === 'answer'
  }
  return [refusal, isDone]
}
