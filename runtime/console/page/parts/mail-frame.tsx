import { useCallback, useEffect, useRef, useState } from 'react'

export interface MailFrameProps {
  readonly html: string
  readonly title: string
  /** Called with the addresses of the mail's links, without duplicates. */
  readonly onLinks?: (links: readonly string[]) => void
}

/**
 * HTML of foreign origin, in a frame whose policy forbids scripts, navigation and loading (mailPolicy of register.ts):
 * its markup is inserted as data, and only styles take effect.
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

/** A click in the frame would open the link there, and so spend its token. */
function takeLinks(body: HTMLElement): readonly string[] {
  const links = [...body.querySelectorAll('[href]')].map((element) => {
    const link = element.getAttribute('href') ?? ''
    element.removeAttribute('href')
    return link
  })
  for (const element of body.querySelectorAll('*')) element.removeAttribute('xlink:href')
  return [...new Set(links.filter((link) => /^https?:\/\//i.test(link)))]
}
