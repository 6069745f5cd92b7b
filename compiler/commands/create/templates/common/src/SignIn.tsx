import { useClient } from '@catalograph/client/react'
import { useState, type FormEvent } from 'react'

type Way = 'sign-up' | 'sign-in'

export function SignIn() {
  const { auth } = useClient()
  const [message, setMessage] = useState('')
  const enter = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const credentials = { email: String(form.get('email')), password: String(form.get('password')) }
    const way = (event.nativeEvent as SubmitEvent).submitter?.getAttribute('value') as Way
    setMessage('')
    if (way === 'sign-in') {
      const { error } = await auth.signInWithPassword(credentials)
      return setMessage(error?.message ?? '')
    }
    const { data, error } = await auth.signUp(credentials)
    if (error !== null) setMessage(error.message)
    else if (data.session === null) setMessage('A mail is on its way: open its link, and you are signed in.')
  }
  const enterAsGuest = async () => {
    const { error } = await auth.signInAnonymously()
    setMessage(error?.message ?? '')
  }
  return (
    <main>
      <h1>Todos</h1>
      {/* By POST, so that no password gets into an address, whatever submits it. */}
      <form method="post" onSubmit={(event) => void enter(event)}>
        <label>
          Email <input name="email" type="email" autoComplete="email" required />
        </label>
        <label>
          Password <input name="password" type="password" autoComplete="current-password" minLength={8} required />
        </label>
        <p>
          <button name="way" value="sign-in">
            Sign in
          </button>{' '}
          <button name="way" value="sign-up">
            Sign up
          </button>
        </p>
      </form>
      <p>
        <button onClick={() => void enterAsGuest()}>Go on as a guest</button>
      </p>
      <p role="alert">{message}</p>
    </main>
  )
}
