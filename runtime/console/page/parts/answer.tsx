import type { ReactNode } from 'react'
import type { Refusal } from '../api.ts'
import type { AdminAnswer } from '../context.tsx'

export interface AnswerProps<T> {
  readonly asked: AdminAnswer<T>
  readonly children: (value: T) => ReactNode
}

export function Answer<T>({ asked, children }: AnswerProps<T>) {
  switch (asked.kind) {
    case 'waiting':
      return <p role="status">Loading …</p>
    case 'refused':
      return <Refused refusal={asked.refusal} />
    case 'answer':
      return children(asked.value)
  }
}

/** Renders nothing without a refusal. */
export function Refused({ refusal }: { readonly refusal: Refusal | null }) {
  if (refusal === null) return null
  return (
    <p className="notice bad" role="alert">
      {refusal.message} <code>{refusal.code}</code>
    </p>
  )
}
