import { cookieStorage, createClient, type Client } from '@catalograph/client'
import { loadList } from '@catalograph/client/react'
import { StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import { App, type Initial } from './App.js'
import { createDb } from './db/db.js'
import { doneTodos, openTodos, type InitialTodos } from './Todos.js'

export interface Project {
  readonly url: string
  readonly anonKey: string
}

/** The values that the browser goes on with. */
export interface State extends Project {
  readonly initial: Initial
}

export interface Cookies {
  /** Those of the request, and of the response once they are set, as `document` has them in a page. */
  readonly document: { cookie: string }
  /** Whether the page came over https. */
  readonly secure: boolean
}

/** Renders the page for the user whose session is in the cookies. */
export async function render({ url, anonKey }: Project, cookies: Cookies): Promise<{ html: string; state: State }> {
  // A client for each request: it has the session of one user.
  const client = createClient(url, anonKey, {
    auth: { storage: cookieStorage(cookies), autoRefreshToken: false, detectSessionInUrl: false },
  })
  try {
    // Asks the service: the cookies are only a claim.
    const { data } = await client.auth.getUser()
    const initial = { user: data.user, todos: data.user === null ? null : await load(client) }
    const html = renderToString(
      <StrictMode>
        <App client={client} initial={initial} />
      </StrictMode>,
    )
    return { html, state: { url, anonKey, initial } }
  } finally {
    client.close()
  }
}

/** The rows of both lists; null after an error, which the browser will see as well. */
async function load(client: Client): Promise<InitialTodos | null> {
  const db = createDb(client)
  const [open, done] = await Promise.all([db.todo.list(openTodos), loadList(db.todo.page, doneTodos)])
  return open.error === null && done.error === null ? { open: open.data, done: done.data } : null
}
