import { useEffect, useMemo, useState } from 'react'
import type { ProjectAnswer } from '../admin/call.ts'
import { createApi, type Api } from './api.ts'
import { PageContextProvider } from './context.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'
import type { Whom } from './whom.ts'

interface Opened {
  readonly api: Api
  readonly project: ProjectAnswer
}

/** The key for the code in the address, which is spent with it; null for another address, or a spent code. */
async function keyOfLink(): Promise<string | null> {
  const code = /^#opening=([\w-]+)$/.exec(location.hash)?.[1]
  if (code === undefined) return null
  history.replaceState(null, '', location.pathname)
  const answer = await fetch('dashboard/opening', { method: 'POST', headers: { authorization: `Bearer ${code}` } })
  return answer.ok ? ((await answer.json()) as { readonly key: string }).key : null
}

/** The tab keeps the key over a reload, until it is closed or the key is forgotten (HTML, session storage). */
const keptKey = 'catalograph.key'

export function Page() {
  const [opened, setOpened] = useState<Opened | null>(null)
  const [isReturning, setReturning] = useState(true)
  const open = async (key: string): Promise<string | null> => {
    const api = createApi(key)
    const asked = await api.call<ProjectAnswer>('GET', 'admin/v1/project')
    if (asked.kind === 'refused') return sentenceOf(asked.refusal.code, asked.refusal.message)
    sessionStorage.setItem(keptKey, key)
    setOpened({ api, project: asked.value })
    return null
  }
  useEffect(() => {
    const enter = async (): Promise<void> => {
      const key = (await keyOfLink().catch(() => null)) ?? sessionStorage.getItem(keptKey)
      if (key !== null) await open(key)
      setReturning(false)
    }
    void enter()
  }, [])
  const leave = (): void => {
    sessionStorage.removeItem(keptKey)
    setOpened(null)
  }
  if (opened !== null) return <OpenPage {...opened} leave={leave} />
  return isReturning ? null : <SignIn open={open} />
}

/** For a key that is not a token of the project, or has the wrong role: says which key to enter. */
function sentenceOf(code: string, message: string): string {
  if (code === 'not_admin') return 'This is a key of the project, but not its service_role key.'
  if (code === 'bad_jwt' || code === 'no_authorization') return 'This key does not belong to this project.'
  return message
}

function OpenPage({ api, project, leave }: Opened & { readonly leave: () => void }) {
  const [whom, actAs] = useState<Whom>({ kind: 'anon' })
  const [opened, openDocument] = useState<string | null>(null)
  const context = useMemo(() => ({ api, project, whom, actAs, opened, openDocument }), [api, project, whom, opened])
  return (
    <PageContextProvider value={context}>
      <Shell leave={leave} />
    </PageContextProvider>
  )
}
