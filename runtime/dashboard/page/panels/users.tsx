import { useCallback, useDeferredValue, useState } from 'react'
import { useAdminAnswer, usePageContext } from '../context.tsx'
import type { Api, Result } from '../api.ts'
import { Answer } from '../parts/answer.tsx'
import { Field } from '../parts/field.tsx'
import { nameOf, usersPath, type ListedUser } from '../users.ts'
import { NewUser, UserActions, type ActionProps } from './user-actions.tsx'

const perPage = 25

/** Everybody who signed up, newest first. */
export function UsersPanel() {
  const [filter, setFilter] = useState('')
  const [page, setPage] = useState(1)
  const looked = useDeferredValue(filter)
  const ask = useCallback(
    (api: Api): Promise<Result<{ readonly users: readonly ListedUser[] }>> =>
      api.call('GET', usersPath({ filter: looked, page, perPage })),
    [looked, page],
  )
  const [asked, reload] = useAdminAnswer(ask)
  const total = asked.kind === 'answer' ? Number(asked.headers.get('x-total-count') ?? 0) : 0
  const pages = Math.max(1, Math.ceil(total / perPage))
  const search = (text: string): void => {
    setFilter(text)
    setPage(1)
  }
  return (
    <>
      <div className="toolbar">
        <Field label="Search by email or name">
          {(described) => (
            <input {...described} type="search" value={filter} onChange={({ target }) => search(target.value)} />
          )}
        </Field>
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </div>
      <NewUser reload={reload} />
      <Answer asked={asked}>{({ users }) => <UserTable users={users} reload={reload} />}</Answer>
      <nav className="toolbar" aria-label="Pages of users">
        <button type="button" disabled={page <= 1} onClick={() => setPage(page - 1)}>
          Newer
        </button>
        <span role="status">
          {total} {total === 1 ? 'user' : 'users'}, page {page} of {pages}
        </span>
        <button type="button" disabled={page >= pages} onClick={() => setPage(page + 1)}>
          Older
        </button>
      </nav>
    </>
  )
}

function UserTable({ users, reload }: ActionProps & { readonly users: readonly ListedUser[] }) {
  const { actAs } = usePageContext()
  const lookAs = (user: ListedUser): void => {
    actAs({ kind: 'user', id: user.id, name: nameOf(user), role: user.role })
    location.hash = 'graphiql'
  }
  return (
    <div className="wide" tabIndex={0} role="region" aria-label="Users">
      <table>
        <thead>
          <tr>
            <th scope="col">User</th>
            <th scope="col">State</th>
            <th scope="col">Signed up</th>
            <th scope="col">Last sign-in</th>
            <th scope="col">Sign-in methods</th>
            <th scope="col">Actions</th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => (
            <tr key={user.id}>
              <th scope="row">
                {nameOf(user)}
                <br />
                <code>{user.id}</code>
              </th>
              <td>{stateOf(user)}</td>
              <td>{timeOf(user.created_at)}</td>
              <td>{timeOf(user.last_sign_in_at)}</td>
              <td>{user.identities?.map(({ provider }) => provider).join(', ')}</td>
              <td>
                <button type="button" onClick={() => lookAs(user)} aria-label={`Open GraphiQL as ${nameOf(user)}`}>
                  Open GraphiQL
                </button>
                <UserActions user={user} isBanned={isBanned(user)} reload={reload} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {users.length === 0 && <p>No users.</p>}
    </div>
  )
}

const isBanned = ({ banned_until: until }: ListedUser): boolean => until !== undefined && Date.parse(until) > Date.now()

function stateOf(user: ListedUser): string {
  if (isBanned(user)) return 'banned'
  if (user.is_anonymous) return 'guest'
  return user.confirmed_at === undefined ? 'not confirmed' : 'confirmed'
}

const timeOf = (time: string | null | undefined): string =>
  time === null || time === undefined ? '' : new Date(time).toLocaleString()
