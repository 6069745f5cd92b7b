import { useDeferredValue, useState } from 'react'
import { AuditLog } from '../parts/audit-log.tsx'
import { Field } from '../parts/field.tsx'

/** What of an entry is searched, as the admin endpoint names it. */
const scopes = { author: 'who did it', action: 'action', type: 'kind of action' } as const

type Scope = keyof typeof scopes

/** What happened to all accounts, newest first. */
export function AuditPanel() {
  const [scope, setScope] = useState<Scope>('author')
  const [text, setText] = useState('')
  const query = useDeferredValue(text === '' ? '' : `${scope}:${text}`)
  return (
    <>
      <div className="toolbar">
        <Field label="Search in">
          {(described) => (
            <select {...described} value={scope} onChange={({ target }) => setScope(target.value as Scope)}>
              {Object.entries(scopes).map(([name, title]) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Text">
          {(described) => (
            <input {...described} type="search" value={text} onChange={({ target }) => setText(target.value)} />
          )}
        </Field>
      </div>
      <AuditLog key={query} path="auth/v1/admin/audit" query={query} label="Audit log" />
    </>
  )
}
