import { createRoot } from 'react-dom/client'
import { Page } from './page.tsx'

createRoot(document.getElementById('root') as HTMLElement).render(<Page />)
