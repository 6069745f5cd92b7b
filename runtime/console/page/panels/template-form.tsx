import { useEffect, useId, useRef, useState, type FormEvent } from 'react'
import type { ShownTemplate } from '../../admin/call.ts'
import type { Result } from '../api.ts'
import { usePageContext, useRefusal } from '../context.tsx'
import { Refused, TextField } from '../parts/controls.tsx'
import { Field } from '../parts/field.tsx'
import { MailFrame } from '../parts/mail-frame.tsx'
import { labelOf } from './setting-text.ts'
import { previewOf, variableNames, type Preview } from './template-preview.ts'

export function TemplateForm({ template, saved }: { readonly template: ShownTemplate; readonly saved: () => void }) {
  const { api } = usePageContext()
  const [subject, setSubject] = useState(template.subject)
  const [html, setHtml] = useState(template.html)
  const [refusal, isDone] = useRefusal()
  const [message, setMessage] = useState('')
  const preview = usePreview(subject, html)
  const path = `admin/v1/templates/${template.kind}`
  const settle = (result: Result<ShownTemplate>, sentence: string): void => {
    if (!isDone(result)) return
    setSubject(result.value.subject)
    setHtml(result.value.html)
    setMessage(sentence)
    saved()
  }
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    settle(await api.call('PATCH', path, { subject, html }), 'Saved. The next mail uses it.')
  }
  const reset = async (): Promise<void> => settle(await api.call('DELETE', path), 'The default is back.')
  const isGood = preview.subjectProblem === null && preview.htmlProblem === null
  return (
    <form className="card template" onSubmit={(event) => void save(event)} aria-label={labelOf(template.kind)}>
      <div>
        <TextField
          label="Subject"
          problem={withPart('The subject', preview.subjectProblem)}
          text={subject}
          change={setSubject}
        />
        <HtmlField html={html} change={setHtml} problem={withPart('The HTML', preview.htmlProblem)} />
        <Refused refusal={refusal} />
        <div className="actions">
          <button type="submit" className="primary" disabled={!isGood}>
            Save
          </button>
          <button type="button" disabled={!template.changed} onClick={() => void reset()}>
            Back to the default
          </button>
          <span role="status">{message}</span>
        </div>
      </div>
      <section aria-label="Preview">
        <p className="help">Subject: {preview.subject}</p>
        <MailFrame html={preview.html} title="Preview of the mail" />
      </section>
    </form>
  )
}

/** The part that a fault names is the part where it is shown. */
const withPart = (part: string, problem: string | null): string | null =>
  problem === null ? null : `${part} ${problem}`

function usePreview(subject: string, html: string): Preview {
  const { project } = usePageContext()
  const last = useRef<Preview | null>(null)
  const preview = previewOf({ subject, html }, project.url, last.current)
  useEffect(() => {
    last.current = preview
  })
  return preview
}

interface HtmlFieldProps {
  readonly html: string
  readonly change: (html: string) => void
  readonly problem: string | null
}

function HtmlField({ html, change, problem }: HtmlFieldProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const labelId = useId()
  const insert = (text: string): void => {
    area.current?.setRangeText(text, area.current.selectionStart, area.current.selectionEnd, 'end')
    change(area.current?.value ?? html)
    area.current?.focus()
  }
  return (
    <>
      <Field label="HTML" problem={problem}>
        {(described) => (
          <textarea
            {...described}
            ref={area}
            rows={16}
            spellCheck={false}
            value={html}
            onChange={({ target }) => change(target.value)}
          />
        )}
      </Field>
      <div role="group" aria-labelledby={labelId} className="chips">
        <span id={labelId} className="help">
          Insert
        </span>
        {variableNames.map((name) => (
          <button key={name} type="button" className="quiet" onClick={() => insert(name)}>
            {name}
          </button>
        ))}
      </div>
    </>
  )
}
