import type { Static } from 'typebox'
import type { schemas } from '../../../auth/io/schemas.ts'
import { useAdminAnswer, usePageContext, useRefusal } from '../context.tsx'
import { Answer, Refused } from '../parts/controls.tsx'
import { AuditLog } from '../parts/audit-log.tsx'
import { ConfirmedButton } from '../parts/confirmed-button.tsx'
import { timeOf } from '../parts/time.ts'
import { nameOf, type ListedUser } from '../users.ts'

/** A second factor as the admin endpoints list it (spec/auth.md 3.4); never its secret. */
type ListedFactor = Static<typeof schemas.Factor>

export interface UserDetailsProps {
  readonly user: ListedUser
  readonly close: () => void
}

export function UserDetails({ user, close }: UserDetailsProps) {
  const name = nameOf(user)
  const path = `auth/v1/admin/users/${user.id}`
  return (
    <section className="card" aria-label={`Details of ${name}`}>
      <div className="actions">
        <h2 tabIndex={-1} ref={focusFirst}>
          {name}
        </h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <h3>Second factors</h3>
      <Factors path={`${path}/factors`} />
      <h3>Audit log</h3>
      <AuditLog path={`${path}/audit`} label={`Audit log of ${name}`} />
    </section>
  )
}

/** The section opens below the list, so it gets the focus. */
const focusFirst = (heading: HTMLHeadingElement | null): void => heading?.focus()

function Factors({ path }: { readonly path: string }) {
  const { api } = usePageContext()
  const [refusal, isDone] = useRefusal()
  const [asked, reload] = useAdminAnswer<readonly ListedFactor[]>(path)
  const remove = async (id: string): Promise<void> => {
    if (isDone(await api.call('DELETE', `${path}/${id}`))) reload()
  }
  return (
    <>
      <Refused refusal={refusal} />
      <Answer asked={asked}>{(factors) => <FactorList factors={factors} remove={remove} />}</Answer>
    </>
  )
}

interface FactorListProps {
  readonly factors: readonly ListedFactor[]
  readonly remove: (id: string) => Promise<void>
}

/** Sessions that a removed factor had raised return to the first level. */
function FactorList({ factors, remove }: FactorListProps) {
  if (factors.length === 0) return <p>No second factors.</p>
  return (
    <ul className="plain">
      {factors.map(({ id, friendly_name: name = '', factor_type: type, status, created_at: time }) => (
        <li key={id} className="actions">
          <span>
            {name === '' ? 'Without a name' : name}: {type}, {status}, since {timeOf(time)}
          </span>
          <ConfirmedButton text="Remove" target={`factor ${name === '' ? id : name}`} act={() => remove(id)} />
        </li>
      ))}
    </ul>
  )
}
