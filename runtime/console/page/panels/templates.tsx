import { useState } from 'react'
import type { TemplatesAnswer } from '../../admin/call.ts'
import { useAdminAnswer } from '../context.tsx'
import { Answer } from '../parts/controls.tsx'
import { labelOf } from './setting-text.ts'
import { TemplateForm } from './template-form.tsx'

/** Mail templates, with a preview made by the code that makes the mails. */
export function TemplatesPanel() {
  const [asked, reload] = useAdminAnswer<TemplatesAnswer>('admin/v1/templates')
  const [kind, setKind] = useState('confirmation')
  return (
    <Answer asked={asked}>
      {({ templates }) => (
        <>
          <div className="toolbar" role="group" aria-label="Kinds of mail">
            {templates.map((template) => (
              <button
                key={template.kind}
                type="button"
                aria-pressed={template.kind === kind}
                onClick={() => setKind(template.kind)}
              >
                {labelOf(template.kind)}
                {template.changed && ' (yours)'}
              </button>
            ))}
          </div>
          {templates.map((template) => (
            // Each keeps its text while another is shown.
            <div key={template.kind} hidden={template.kind !== kind}>
              <TemplateForm template={template} saved={reload} />
            </div>
          ))}
        </>
      )}
    </Answer>
  )
}
