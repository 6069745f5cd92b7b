import type { Client, User } from '@catalograph/client'
import { CatalographProvider, useClient, useUser } from '@catalograph/client/react'
import { SignIn } from './SignIn.js'
import { Todos, type InitialTodos } from './Todos.js'

/** The state that a server has rendered. */
export interface Initial {
  readonly user: User | null
  readonly todos: InitialTodos | null
}

export function App({ client, initial }: { readonly client: Client; readonly initial?: Initial }) {
  return (
    <CatalographProvider client={client} {...(initial !== undefined && { user: initial.user })}>
      <Page {...(initial?.todos && { initial: initial.todos })} />
    </CatalographProvider>
  )
}

function Page({ initial }: { readonly initial?: InitialTodos }) {
  const { user, loading } = useUser()
  const { auth } = useClient()
  if (loading) return <p>One moment …</p>
  if (user === null) return <SignIn />
  return (
    <>
      <header>
        <p>{user.email ?? 'A guest'}</p>
        <button onClick={() => void auth.signOut()}>Sign out</button>
      </header>
      <Todos {...(initial !== undefined && { initial })} />
    </>
  )
}
