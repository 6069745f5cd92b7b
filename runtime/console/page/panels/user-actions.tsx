import { useState, type FormEvent } from 'react'
import type { SettingsAnswer } from '../../admin/call.ts'
import type { Result } from '../api.ts'
import { useAdminAnswer, usePageContext, useRefusal } from '../context.tsx'
import { Refused, TextField } from '../parts/controls.tsx'
import { ConfirmedButton } from '../parts/confirmed-button.tsx'
import { nameOf, type ListedUser } from '../users.ts'

/** An owner's actions on accounts, by the admin endpoints of auth (spec/auth.md 11). */

export interface ActionProps {
  /** Called after something changed. */
  readonly reload: () => void
}

export function NewUser({ reload }: ActionProps) {
  const { api } = usePageContext()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const least = usePasswordLength()
  const [refusal, isDone] = useRefusal()
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const made: Result<unknown> =
      password === ''
        ? await api.call('POST', 'auth/v1/invite', { email })
        : await api.call('POST', 'auth/v1/admin/users', { email, password, email_confirm: true })
    if (!isDone(made)) return
    setEmail('')
    setPassword('')
    reload()
  }
  return (
    <form className="toolbar" aria-label="New user" onSubmit={(event) => void submit(event)}>
      <TextField label="Email" type="email" required autoComplete="off" text={email} change={setEmail} />
      <TextField
        label="Password"
        help={passwordHelp(password, least)}
        type="password"
        autoComplete="new-password"
        text={password}
        change={setPassword}
      />
      <button type="submit">{password === '' ? 'Invite' : 'Create'}</button>
      <Refused refusal={refusal} />
    </form>
  )
}

const passwordHelp = (password: string, least: number): string => {
  if (password === '') return 'Left empty, a mail invites the user.'
  return password.length < least ? `Short: sign-up asks for ${least} characters, and this form for none.` : ''
}

/** The least length at sign-up, which administrators may go below as with GoTrue. */
function usePasswordLength(): number {
  const [asked] = useAdminAnswer<SettingsAnswer>('admin/v1/settings')
  const found = asked.kind === 'answer' ? asked.value.settings : []
  return Number(found.find(({ name }) => name === 'password_min_length')?.value ?? 0)
}

/** A hundred years, the permanent ban of GoTrue's own clients. */
const forever = '876000h'

export interface UserActionProps extends ActionProps {
  readonly user: ListedUser
  readonly isBanned: boolean
}

export function UserActions({ user, isBanned, reload }: UserActionProps) {
  const { api } = usePageContext()
  const [refusal, isDone] = useRefusal()
  const path = `auth/v1/admin/users/${user.id}`
  const act = async (done: Promise<Result<unknown>>): Promise<void> => {
    if (isDone(await done)) reload()
  }
  const name = nameOf(user)
  return (
    <>
      <button
        type="button"
        aria-label={`${isBanned ? 'Unban' : 'Ban'} ${name}`}
        onClick={() => void act(api.call('PUT', path, { ban_duration: isBanned ? 'none' : forever }))}
      >
        {isBanned ? 'Unban' : 'Ban'}
      </button>
      <ConfirmedButton text="Delete" target={name} act={() => act(api.call('DELETE', path))} />
      <Refused refusal={refusal} />
    </>
  )
}
