import { useMemo } from 'react'
import { usePageContext } from './context.tsx'
import { createBearers, type BearerOf } from './whom.ts'

/** Tokens of the chosen user, requested on demand. */
export function useBearers(): BearerOf {
  const { api, project } = usePageContext()
  return useMemo(() => createBearers(api, project), [api, project])
}
