import { useDeferredValue, useState } from 'react'
import { useAdminAnswer, usePageContext } from '../context.tsx'
import { Answer, RefreshButton, TextField } from '../parts/controls.tsx'
import { WideTable } from '../parts/wide-table.tsx'
import { Pages, perPage, totalOf } from '../parts/pages.tsx'
import { timeOf } from '../parts/time.ts'
import { nameOf, usersPath, type ListedUser, type ListedUsers } from '../users.ts'
import { NewUser, UserActions, type ActionProps } from './user-actions.tsx'
import { UserDetails } from './user-details.tsx'

export function UsersPanel() {
  const [filter, setFilter] = useState('')
  const [page, setPage] = useState(1)
  const [shown, setShown] = useState<ListedUser | null>(null)
  const looked = useDeferredValue(filter)
  const [asked, reload] = useAdminAnswer<ListedUsers>(usersPath({ filter: looked, page, perPage }))
  const search = (text: string): void => {
    setFilter(text)
    setPage(1)
  }
  return (
    <>
      <div className="toolbar">
        <TextField type="search" label="Search by email or name" text={filter} change={search} />
        <RefreshButton reload={reload} />
      </div>
      <NewUser reload={reload} />
      <Answer asked={asked}>{({ users }) => <UserTable users={users} reload={reload} show={setShown} />}</Answer>
      <Pages label="Pages of users" noun="user" nouns="users" total={totalOf(asked)} page={page} turn={setPage} />
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
    <WideTable
      label="Users"
      columns={['User', 'State', 'Signed up', 'Last sign-in', 'Sign-in methods', 'Actions']}
      empty="No users."
      rows={users.map((user) => (
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
    />
  )
}

const isBanned = ({ banned_until: until }: ListedUser): boolean => until !== undefined && Date.parse(until) > Date.now()

function stateOf(user: ListedUser): string {
  if (isBanned(user)) return 'banned'
  if (user.is_anonymous) return 'guest'
  return user.confirmed_at === undefined ? 'not confirmed' : 'confirmed'
}
