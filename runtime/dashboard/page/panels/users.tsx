import { useCallback, useDeferredValue, useState } from 'react'
import { useAdminAnswer, usePageContext } from '../context.tsx'
import type { Api, Result } from '../api.ts'
import { Answer } from '../parts/answer.tsx'
import { Field } from '../parts/field.tsx'
import { Pages, totalOf } from '../parts/pages.tsx'
import { timeOf } from '../parts/time.ts'
import { nameOf, usersPath, type ListedUser } from '../users.ts'
import { NewUser, UserActions, type ActionProps } from './user-actions.tsx'
import { UserDetails } from './user-details.tsx'

const perPage = 25

/** Everybody who signed up, newest first. */
export function UsersPanel() {
  const [filter, setFilter] = useState('')
  const [page, setPage] = useState(1)
  const [shown, setShown] = useState<ListedUser | null>(null)
  const looked = useDeferredValue(filter)
  const ask = useCallback(
    (api: Api): Promise<Result<{ readonly users: readonly ListedUser[] }>> =>
      api.call('GET', usersPath({ filter: looked, page, perPage })),
    [looked, page],
  )
  const [asked, reload] = useAdminAnswer(ask)
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
      <Answer asked={asked}>{({ users }) => <UserTable users={users} reload={reload} show={setShown} />}</Answer>
      <Pages
        label="Pages of users"
        noun="user"
        nouns="users"
        total={totalOf(asked)}
        page={page}
        perPage={perPage}
        turn={setPage}
      />
      {shown !== null && <UserDetails key={shown.id} user={shown} close={() => setShown(null)} />}
    </>
  )
}

interface UserTableProps extends ActionProps {
  readonly users: readonly ListedUser[]
  readonly show: (user: ListedUser) => void
}

function UserTable({ users, reload, show }: UserTableProps) {
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
                <div className="actions">
                  <button type="button" onClick={() => lookAs(user)} aria-label={`Open GraphiQL as ${nameOf(user)}`}>
                    Open GraphiQL
                  </button>
                  <button type="button" onClick={() => show(user)} aria-label={`Details of ${nameOf(user)}`}>
                    Details
                  </button>
                  <UserActions user={user} isBanned={isBanned(user)} reload={reload} />
                </div>
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
