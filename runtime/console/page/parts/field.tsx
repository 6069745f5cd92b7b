import { useId, type ReactNode } from 'react'

export interface Described {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean
}

export interface FieldProps {
  readonly label: string
  readonly help?: string | undefined
  /** The refusal of this field; null: none. */
  readonly problem?: string | null | undefined
  /** True puts the label behind the control, as for checkboxes. */
  readonly inline?: boolean
  readonly children: (described: Described) => ReactNode
}

export function Field({ label, help, problem = null, inline = false, children }: FieldProps) {
  const id = useId()
  const helpId = help === undefined ? null : `${id}-help`
  const problemId = problem === null ? null : `${id}-problem`
  const describedBy = [helpId, problemId].filter((one) => one !== null).join(' ') || undefined
  const control = children({ id, 'aria-describedby': describedBy, 'aria-invalid': problem !== null })
  return (
    <div className={inline ? 'field inline' : 'field'}>
      {inline && control}
      <label htmlFor={id}>{label}</label>
      {!inline && control}
      {help !== undefined && (
        <p id={helpId ?? undefined} className="help">
          {help}
        </p>
      )}
      {problem !== null && (
        <p id={problemId ?? undefined} className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
