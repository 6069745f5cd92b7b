import { useState, type FormEvent, type ReactNode } from 'react'
import type { ShownSetting } from '../../admin/call.ts'
import type { Result } from '../api.ts'
import { useRefusal } from '../context.tsx'
import { Refused } from '../parts/controls.tsx'
import { Field, type Described } from '../parts/field.tsx'
import { draftOf, helpOf, labelOf, valueOf, type Draft } from './setting-text.ts'

type Drafts = Readonly<Record<string, Draft>>

export interface SettingsFormProps {
  readonly title: string
  readonly settings: readonly ShownSetting[]
  /** Saves all of the changes or none; null requests a default. */
  readonly save: (changes: Readonly<Record<string, unknown>>) => Promise<Result<unknown>>
  readonly saved: () => void
  readonly act?: string
  readonly children?: ReactNode
}

/** A group of settings. A refusal is shown at its field, and the typed text stays. */
export function SettingsForm({ title, settings, save, saved, act = 'Save', children }: SettingsFormProps) {
  const [drafts, setDrafts] = useState<Drafts>({})
  const [refusal, isDone] = useRefusal()
  const [message, setMessage] = useState('')
  const changed = settings.filter((setting) => (drafts[setting.name] ?? draftOf(setting)) !== draftOf(setting))
  const submit = async (changes: Readonly<Record<string, unknown>>, done: Drafts): Promise<void> => {
    setMessage('')
    if (!isDone(await save(changes))) return
    setDrafts(done)
    setMessage('Saved. Every process knows it within a second.')
    saved()
  }
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault()
    const entries = changed.map((setting) => [setting.name, valueOf(setting, drafts[setting.name] ?? '')] as const)
    void submit(Object.fromEntries(entries), {})
  }
  const problems = new Map(refusal?.problems?.map(({ name, problem }) => [name, problem]))
  const isElsewhere = [...problems.keys()].some((name) => settings.every((setting) => setting.name !== name))
  return (
    <form className="card" onSubmit={onSubmit} aria-label={title} noValidate>
      <h2>{title}</h2>
      {children}
      {settings.map((setting) => (
        <SettingField
          key={setting.name}
          setting={setting}
          draft={drafts[setting.name] ?? draftOf(setting)}
          problem={problems.get(setting.name) ?? null}
          change={(draft) => setDrafts({ ...drafts, [setting.name]: draft })}
          reset={() => void submit({ [setting.name]: null }, without(drafts, setting.name))}
        />
      ))}
      {refusal !== null && (problems.size === 0 || isElsewhere) && <Refused refusal={refusal} />}
      <div className="actions">
        <button type="submit" className="primary" disabled={changed.length === 0}>
          {act}
        </button>
        <span role="status">{changed.length === 0 ? message : `${changed.length} not saved yet`}</span>
      </div>
    </form>
  )
}

const without = (drafts: Drafts, name: string): Drafts =>
  Object.fromEntries(Object.entries(drafts).filter(([key]) => key !== name))

interface SettingFieldProps {
  readonly setting: ShownSetting
  readonly draft: Draft
  readonly problem: string | null
  readonly change: (draft: Draft) => void
  readonly reset: () => void
}

function SettingField({ setting, draft, problem, change, reset }: SettingFieldProps) {
  const label = labelOf(setting.name)
  return (
    <div className="setting">
      <Field
        label={label}
        help={helpOf(setting)}
        problem={problem && `${label} ${problem}`}
        inline={setting.type === 'switch'}
      >
        {(described) => control(setting, draft, change, described)}
      </Field>
      {setting.set && setting.type !== 'switch' && (
        <button type="button" className="quiet" onClick={reset} aria-label={`Reset ${label} to its default`}>
          Default
        </button>
      )}
    </div>
  )
}

function control(setting: ShownSetting, draft: Draft, change: (draft: Draft) => void, described: Described): ReactNode {
  if (typeof draft === 'boolean') {
    return <input {...described} type="checkbox" checked={draft} onChange={({ target }) => change(target.checked)} />
  }
  const typed = { ...described, value: draft, spellCheck: false, autoComplete: 'off' } as const
  if (setting.type === 'list' || setting.type === 'json') {
    return (
      <textarea {...typed} rows={3} placeholder={hintOf(setting)} onChange={({ target }) => change(target.value)} />
    )
  }
  return (
    <input
      {...typed}
      type={setting.secret ? 'password' : 'text'}
      inputMode={setting.type === 'number' ? 'numeric' : setting.type === 'address' ? 'url' : 'text'}
      placeholder={hintOf(setting)}
      onChange={({ target }) => change(target.value)}
    />
  )
}

function hintOf({ secret, set, type }: ShownSetting): string {
  if (secret) return set ? 'Set; never shown again' : 'Not set'
  return type === 'list' ? 'One a line' : ''
}
