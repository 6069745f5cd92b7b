import { useDeferredValue, useState } from 'react'
import { AuditLog } from '../parts/audit-log.tsx'
import { ChoiceField, TextField } from '../parts/controls.tsx'

/** What of an entry is searched, as the admin endpoint names it. */
const scopes = {
  author: { title: 'who did it' },
  action: { title: 'action' },
  type: { title: 'kind of action' },
} as const

type Scope = keyof typeof scopes

/** What happened to all accounts, newest first. */
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
