import { cookieStorage, createClient } from '@catalograph/client'
import { StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { App } from './App.js'
import type { State } from './entry-server.js'

const { url, anonKey, initial } = JSON.parse(document.querySelector('#state')?.textContent ?? '') as State

// Cookies, which the server reads with the next page.
const client = createClient(url, anonKey, { auth: { storage: cookieStorage() } })

hydrateRoot(
  document.querySelector('#root') as HTMLElement,
  <StrictMode>
    <App client={client} initial={initial} />
  </StrictMode>,
)
