import { useDeferredValue, useEffect, useId, useState } from 'react'
import { useAdminAnswer, usePageContext } from '../context.tsx'
import { nameOf, usersPath, type ListedUsers } from '../users.ts'
import type { Whom } from '../whom.ts'
import { Answer, ChoiceField, TextField } from './controls.tsx'

const kinds: Readonly<Record<Whom['kind'], { readonly title: string }>> = {
  anon: { title: 'anon: not signed in' },
  user: { title: 'a user' },
  service: { title: 'service_role: past row-level security' },
}

export function WhomPicker() {
  const { whom, actAs } = usePageContext()
  const [kind, setKind] = useState(whom.kind)
  const choose = (next: Whom['kind']): void => {
    setKind(next)
    if (next !== 'user') actAs({ kind: next })
  }
  return (
    <>
      <ChoiceField label="As" options={kinds} chosen={kind} choose={choose} />
      {kind === 'user' && <UserPicker />}
    </>
  )
}

function UserPicker() {
  const { whom, actAs } = usePageContext()
  const [filter, setFilter] = useState('')
  const looked = useDeferredValue(filter)
  const [asked] = useAdminAnswer<ListedUsers>(usersPath({ filter: looked, page: 1, perPage: 20 }))
  const listId = useId()
  const chosen = whom.kind === 'user' ? whom : null
  const found = asked.kind === 'answer' ? asked.value.users.find((user) => nameOf(user) === filter) : undefined
  // A pasted name may precede the list with its user; a repeated list does not choose again.
  useEffect(() => {
    if (found !== undefined) actAs({ kind: 'user', id: found.id, name: nameOf(found), role: found.role })
  }, [found?.id, actAs])
  return (
    <>
      <TextField
        label="User"
        help={chosen === null ? 'No user is chosen yet.' : `Chosen: ${chosen.name}`}
        type="search"
        list={listId}
        text={filter}
        change={setFilter}
      />
      <datalist id={listId}>
        <Answer asked={asked}>
          {({ users }) => users.map((user) => <option key={user.id} value={nameOf(user)} />)}
        </Answer>
      </datalist>
    </>
  )
}
