import { useState, type ReactNode } from 'react'

/** A text with a button that copies it. */
export function Copied({ title, text }: { readonly title: string; readonly text: string }) {
  const [message, setMessage] = useState('')
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setMessage('Copied.'),
      () => setMessage('The browser does not allow copying here.'),
    )
  }
  return (
    <>
      <pre tabIndex={0} aria-label={title}>
        {text}
      </pre>
      <button type="button" onClick={copy} aria-label={`Copy ${title}`}>
        Copy
      </button>{' '}
      <span role="status">{message}</span>
    </>
  )
}

interface SnippetProps {
  readonly title: string
  readonly text: string
  /** A sentence about its use. */
  readonly children?: ReactNode
}

export function Snippet({ title, text, children }: SnippetProps) {
  return (
    <section className="card">
      <h2>{title}</h2>
      {children === undefined ? null : <p>{children}</p>}
      <Copied title={title} text={text} />
    </section>
  )
}
