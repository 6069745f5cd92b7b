import { useState } from 'react'
import type { MailsAnswer, ShownMail } from '../../admin/call.ts'
import { useAdminAnswer, usePageContext } from '../context.tsx'
import { Answer, RefreshButton } from '../parts/controls.tsx'
import { MailFrame } from '../parts/mail-frame.tsx'
import { timeOf } from '../parts/time.ts'
import { labelOf } from './setting-text.ts'

export function OutboxPanel() {
  const { project } = usePageContext()
  const [asked, reload] = useAdminAnswer<MailsAnswer>('admin/v1/mails?last=100')
  return (
    <>
      {project.mails === 'sent' && (
        <p className="notice">Mails go to the mail server; these wait for it or were kept before it was set.</p>
      )}
      <div className="toolbar">
        <RefreshButton reload={reload} />
      </div>
      <Answer asked={asked}>{({ mails }) => <Mails mails={mails} />}</Answer>
    </>
  )
}

function Mails({ mails }: MailsAnswer) {
  const [openId, setOpenId] = useState<string | null>(null)
  const open = mails.find(({ id }) => id === openId) ?? mails[0]
  if (open === undefined) return <p>No mails are kept.</p>
  return (
    <div className="outbox">
      <ul aria-label="Mails">
        {mails.map((mail) => (
          <li key={mail.id}>
            <button type="button" aria-pressed={mail === open} onClick={() => setOpenId(mail.id)}>
              <strong>{mail.subject}</strong>
              <span>{mail.recipient}</span>
              <small>
                {labelOf(mail.kind)}, {timeOf(mail.created_at)}
              </small>
            </button>
          </li>
        ))}
      </ul>
      <Opened mail={open} />
    </div>
  )
}

function Opened({ mail }: { readonly mail: ShownMail }) {
  const [links, setLinks] = useState<readonly string[]>([])
  return (
    <section className="card" aria-label={`Mail to ${mail.recipient}`}>
      <h2>{mail.subject}</h2>
      <p>To {mail.recipient}</p>
      {links.map((link) => (
        <p key={link} className="link">
          <a href={link} target="_blank" rel="noreferrer">
            {link}
          </a>
        </p>
      ))}
      <MailFrame html={mail.html} title={`Mail to ${mail.recipient}`} onLinks={setLinks} />
      <details>
        <summary>As text</summary>
        <pre>{mail.text}</pre>
      </details>
    </section>
  )
}
