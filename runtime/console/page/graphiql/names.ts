import { useEffect, type RefObject } from 'react'

/** Accessible names of GraphiQL's editors: CodeMirror's text areas have no label. */
const names: Readonly<Record<string, string>> = {
  '.graphiql-query-editor textarea': 'Query',
  '.graphiql-editor-tool textarea': 'Variables',
  '.result-window textarea': 'Result',
}

/** A scrollable region must be reachable by keyboard (WCAG 2.1.1). */
const scrolling = '.CodeMirror-scroll'

/** Keeps the editors within `root` named: GraphiQL creates them on first use. */
export function useEditorNames(root: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const console = root.current
    if (console === null) return
    const name = (): void => nameEditors(console)
    const observer = new MutationObserver(name)
    observer.observe(console, { childList: true, subtree: true })
    name()
    return () => observer.disconnect()
  }, [root])
}

function nameEditors(root: HTMLElement): void {
  for (const [selector, label] of Object.entries(names)) {
    for (const area of root.querySelectorAll(selector)) area.setAttribute('aria-label', label)
  }
  for (const pane of root.querySelectorAll(scrolling)) pane.setAttribute('tabindex', '0')
}
