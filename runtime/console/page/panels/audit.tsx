import { useDeferredValue, useState } from 'react'
import { AuditLog } from '../parts/audit-log.tsx'
import { ChoiceField, TextField } from '../parts/controls.tsx'

/** The searched part of an entry, in the names of the admin endpoint. */
const scopes = {
  author: { title: 'who did it' },
  action: { title: 'action' },
  type: { title: 'kind of action' },
} as const

type Scope = keyof typeof scopes

/** The audit log of all accounts, newest first. */
export function AuditPanel() {
  const [scope, setScope] = useState<Scope>('author')
  const [text, setText] = useState('')
  const query = useDeferredValue(text === '' ? '' : `${scope}:${text}`)
  return (
    <>
      <div className="toolbar">
        <ChoiceField label="Search in" options={scopes} chosen={scope} choose={setScope} />
        <TextField type="search" label="Text" text={text} change={setText} />
      </div>
      <AuditLog key={query} path="auth/v1/admin/audit" query={query} label="Audit log" />
    </>
  )
}
