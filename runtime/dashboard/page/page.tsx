import { useMemo, useState } from 'react'
import type { ProjectAnswer } from '../../admin/answers.ts'
import { createApi, type Api } from './api.ts'
import { PageContextProvider } from './context.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'
import type { Whom } from './whom.ts'

interface Opened {
  readonly api: Api
  readonly project: ProjectAnswer
}

/** The key lives in this page's memory only: after a reload it is typed again. */
export function Page() {
  const [opened, setOpened] = useState<Opened | null>(null)
  const open = async (key: string): Promise<string | null> => {
    const api = createApi(key)
    const asked = await api.call<ProjectAnswer>('GET', 'admin/v1/project')
    if (asked.kind === 'refused') return sentenceOf(asked.refusal.code, asked.refusal.message)
    setOpened({ api, project: asked.value })
    return null
  }
  return opened === null ? <SignIn open={open} /> : <OpenPage {...opened} leave={() => setOpened(null)} />
}

/** For a key that is not a token of the project, or has the wrong role: says which key to type. */
function sentenceOf(code: string, message: string): string {
  if (code === 'not_admin') return 'This is a key of the project, but not its service_role key.'
  if (code === 'bad_jwt' || code === 'no_authorization') return 'This is no key of this project.'
  return message
}

function OpenPage({ api, project, leave }: Opened & { readonly leave: () => void }) {
  const [whom, actAs] = useState<Whom>({ kind: 'anon' })
  const context = useMemo(() => ({ api, project, whom, actAs }), [api, project, whom])
  return (
    <PageContextProvider value={context}>
      <Shell leave={leave} />
    </PageContextProvider>
  )
}
