import { useState } from 'react'
import type { TemplatesAnswer } from '../../../admin/answers.ts'
import { useAdminAnswer } from '../context.tsx'
import type { Api, Result } from '../api.ts'
import { Answer } from '../parts/answer.tsx'
import { labelOf } from './setting-text.ts'
import { TemplateForm } from './template-form.tsx'

const askTemplates = (api: Api): Promise<Result<TemplatesAnswer>> => api.call('GET', 'admin/v1/templates')

/** What mails look like, with a preview made by the code that makes the mails. */
export function TemplatesPanel() {
  const [asked, reload] = useAdminAnswer(askTemplates)
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
            // Each keeps what was typed into it while another one is looked at.
            <div key={template.kind} hidden={template.kind !== kind}>
              <TemplateForm template={template} saved={reload} />
            </div>
          ))}
        </>
      )}
    </Answer>
  )
}
