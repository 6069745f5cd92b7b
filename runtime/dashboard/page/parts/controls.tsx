import { Field } from './field.tsx'

interface SearchFieldProps {
  readonly label: string
  readonly text: string
  readonly change: (text: string) => void
}

export function SearchField({ label, text, change }: SearchFieldProps) {
  return (
    <Field label={label}>
      {(described) => (
        <input {...described} type="search" value={text} onChange={({ target }) => change(target.value)} />
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

/** One of a few. */
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
