import { useEffect, useRef, useState } from 'react'
import { panels, panelOf } from './panels.tsx'
import { Boundary } from './parts/boundary.tsx'

/** The navigation and the panel of the address, for example `/dashboard#users`. */
export function Shell({ leave }: { readonly leave: () => void }) {
  const name = useHash()
  const current = panelOf(name)
  const heading = useRef<HTMLHeadingElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${current.title} · Catalograph`
    // A link of the navigation moves the focus, so that keyboard and screen reader users continue there.
    if (!isFirst.current) heading.current?.focus()
    isFirst.current = false
  }, [current])
  const { Show } = current
  return (
    <div className="shell">
      <nav aria-label="Panels">
        <p className="brand">Catalograph</p>
        <ul>
          {panels.map((panel) => (
            <li key={panel.name}>
              <a href={`#${panel.name}`} aria-current={panel === current ? 'page' : undefined}>
                {panel.title}
              </a>
            </li>
          ))}
        </ul>
        <button type="button" onClick={leave}>
          Forget the key
        </button>
      </nav>
      <main data-panel={current.name}>
        <h1 ref={heading} tabIndex={-1}>
          {current.title}
        </h1>
        <Boundary key={current.name}>
          <Show />
        </Boundary>
      </main>
    </div>
  )
}

function useHash(): string {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const look = (): void => setHash(location.hash)
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  return hash.slice(1)
}
