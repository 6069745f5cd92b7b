import type { ComponentProps, ReactNode } from 'react'
import { Field, type FieldProps } from './field.tsx'
import type { Refusal } from '../api.ts'
import type { AdminAnswer } from '../context.tsx'

interface TextFieldProps
  extends
    Omit<FieldProps, 'inline' | 'children'>,
    Pick<ComponentProps<'input'>, 'type' | 'list' | 'required' | 'autoComplete' | 'autoFocus' | 'spellCheck'> {
  readonly text: string
  readonly change: (text: string) => void
}

export function TextField({ label, help, problem, text, change, ...attributes }: TextFieldProps) {
  return (
    <Field label={label} help={help} problem={problem}>
      {(described) => (
        <input {...described} {...attributes} value={text} onChange={({ target }) => change(target.value)} />
      )}
    </Field>
  )
}

interface SwitchFieldProps {
  readonly label: string
  readonly help?: string
  readonly on: boolean
  readonly change: (on: boolean) => void
}

export function SwitchField({ label, help, on, change }: SwitchFieldProps) {
  return (
    <Field label={label} help={help} inline>
      {(described) => (
        <input {...described} type="checkbox" checked={on} onChange={({ target }) => change(target.checked)} />
      )}
    </Field>
  )
}

interface ChoiceFieldProps<Name extends string> {
  readonly label: string
  readonly options: Readonly<Record<Name, { readonly title: string }>>
  readonly chosen: Name
  readonly choose: (name: Name) => void
}

export function ChoiceField<Name extends string>({ label, options, chosen, choose }: ChoiceFieldProps<Name>) {
  return (
    <Field label={label}>
      {(described) => (
        <select {...described} value={chosen} onChange={({ target }) => choose(target.value as Name)}>
          {Object.entries<{ readonly title: string }>(options).map(([name, { title }]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export function RefreshButton({ reload }: { readonly reload: () => void }) {
  return (
    <button type="button" onClick={reload}>
      Refresh
    </button>
  )
}

interface AnswerProps<T> {
  readonly asked: AdminAnswer<T>
  readonly children: (value: T) => ReactNode
}

export function Answer<T>({ asked, children }: AnswerProps<T>) {
  switch (asked.kind) {
    case 'waiting':
      return <p role="status">Loading …</p>
    case 'refused':
      return <Refused refusal={asked.refusal} />
    case 'answer':
      return children(asked.value)
  }
}

/** Renders nothing without a refusal. */
export function Refused({ refusal }: { readonly refusal: Refusal | null }) {
  if (refusal === null) return null
  return (
    <p className="notice bad" role="alert">
      {refusal.message} <code>{refusal.code}</code>
    </p>
  )
}
