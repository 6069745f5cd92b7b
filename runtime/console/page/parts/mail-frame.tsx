import { useCallback, useEffect, useRef, useState } from 'react'

export interface MailFrameProps {
  readonly html: string
  readonly title: string
  /** Told where the mail's links lead, each once. */
  readonly onLinks?: (links: readonly string[]) => void
}

/**
 * HTML that somebody else wrote, in a frame whose policy lets nothing run, leave or load (mailPolicy of register.ts):
 * its markup is put there as data, and styles are all that works of it.
 */
export function MailFrame({ html, title, onLinks }: MailFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [loaded, setLoaded] = useState(false)
  useEffect(() => {
    const body = frame.current?.contentDocument?.body
    if (!loaded || !body) return
    body.innerHTML = html
    const links = takeLinks(body)
    onLinks?.(links)
  }, [html, loaded, onLinks])
  return (
    <iframe
      ref={frame}
      className="mail"
      title={title}
      src="dashboard/mail.html"
      sandbox="allow-same-origin"
      onLoad={useCallback(() => setLoaded(true), [])}
    />
  )
}

/** A click in the frame would open the link there, and so spend what it is good for. */
function takeLinks(body: HTMLElement): readonly string[] {
  const links = [...body.querySelectorAll('[href]')].map((element) => {
    const link = element.getAttribute('href') ?? ''
    element.removeAttribute('href')
    return link
  })
  for (const element of body.querySelectorAll('*')) element.removeAttribute('xlink:href')
  return [...new Set(links.filter((link) => /^https?:\/\//i.test(link)))]
}
