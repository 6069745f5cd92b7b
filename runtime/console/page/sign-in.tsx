import { useState, type FormEvent } from 'react'
import { TextField } from './parts/controls.tsx'

export function SignIn({ open }: { readonly open: (key: string) => Promise<string | null> }) {
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblem(await open(key.trim()))
    setBusy(false)
  }
  return (
    <main className="sign-in">
      <h1>Catalograph</h1>
      <form className="card" onSubmit={(event) => void submit(event)}>
        <TextField
          label="service_role key"
          help="`catalograph keys` prints it. This tab keeps it until it is closed, or until you forget the key."
          problem={problem}
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          autoFocus
          text={key}
          change={setKey}
        />
        <button type="submit" className="primary" disabled={busy}>
          {busy ? 'DashboardLink …' : 'Open'}
        </button>
      </form>
    </main>
  )
}
