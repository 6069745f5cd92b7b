import { createContext, useCallback, useContext, useEffect, useState } from 'react'
import type { ProjectAnswer } from '../../admin/answers.ts'
import type { Api, Refusal, Result } from './api.ts'
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

export type AdminAnswer<T> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'answer'; readonly value: T; readonly headers: Headers }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** Asks when it is first shown and whenever `ask` changes; an answer that another question has overtaken is dropped. */
export function useAdminAnswer<T>(
  ask: (api: Api) => Promise<Result<T>>,
): readonly [AdminAnswer<T>, reload: () => void] {
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
