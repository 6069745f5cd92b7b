import { createClient } from '@catalograph/client'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App.js'
import './styles.css'

const client = createClient(import.meta.env.PROJECT_URL, import.meta.env.ANON_KEY)

createRoot(document.querySelector('#root') as HTMLElement).render(
  <StrictMode>
    <App client={client} />
  </StrictMode>,
)
