import { useEffect, type RefObject } from 'react'

/** What GraphiQL's editors are called by those who hear them: CodeMirror types into areas that have no label. */
const names: Readonly<Record<string, string>> = {
  '.graphiql-query-editor textarea': 'Query',
  '.graphiql-editor-tool textarea': 'Variables',
  '.result-window textarea': 'Result',
}

/** What scrolls has to be reached by keyboard (WCAG 2.1.1). */
const scrolling = '.CodeMirror-scroll'

/** Keeps the editors within `root` named: GraphiQL makes them when they are first shown. */
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
