import { createContext, useCallback, useContext, useEffect, useState } from 'react'
import type { ProjectAnswer } from '../../admin/answers.ts'
import type { Api, Refusal, Result } from './api.ts'
import type { Whom } from './whom.ts'

/** What every panel has at hand once the owner has shown the key. */
export interface Desk {
  readonly api: Api
  readonly project: ProjectAnswer
  /** As whom documents are run; chosen in one panel, it holds in all. */
  readonly whom: Whom
  readonly actAs: (whom: Whom) => void
}

const DeskContext = createContext<Desk | null>(null)

export const DeskProvider = DeskContext.Provider

export function useDesk(): Desk {
  const desk = useContext(DeskContext)
  if (desk === null) throw new Error('There is no desk around this panel.')
  return desk
}

export type Asked<T> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'answer'; readonly value: T; readonly headers: Headers }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** Asks when it is first shown and whenever `ask` changes; an answer that another question has overtaken is dropped. */
export function useAsked<T>(ask: (api: Api) => Promise<Result<T>>): readonly [Asked<T>, reload: () => void] {
  const { api } = useDesk()
  const [asked, setAsked] = useState<Asked<T>>({ kind: 'waiting' })
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
