import {
  getEnterLeaveForKind,
  type ASTNode,
  type ASTVisitFn,
  type ASTVisitor,
  type Kind,
  type ValidationRule,
} from 'graphql'

/** The visitor of a rule. */
interface Watcher {
  readonly visitor: ASTVisitor
  /** The node whose subtree it skips. */
  skipped: ASTNode | null
}

/** Its handlers for nodes of one kind. */
interface Watch {
  readonly watcher: Watcher
  readonly enter: ASTVisitFn<ASTNode> | undefined
  readonly leave: ASTVisitFn<ASTNode> | undefined
}

const watchesOf = (watchers: readonly Watcher[], kind: Kind): readonly Watch[] =>
  watchers
    .map((watcher): Watch => ({
      watcher,
      enter: undefined,
      leave: undefined,
      ...getEnterLeaveForKind(watcher.visitor, kind),
    }))
    .filter(({ enter, leave }) => enter !== undefined || leave !== undefined)

/**
 * Combines rules into one, which shows a node only to the rules that visit its kind. graphql-js asks each rule about
 * all kinds before it reads a document, and then shows every node to every rule.
 */
export const asOneRule =
  (rules: readonly ValidationRule[]): ValidationRule =>
  (context) => {
    const watchers = rules.map((rule): Watcher => ({ visitor: rule(context), skipped: null }))
    const byKind = new Map<Kind, readonly Watch[]>()
    const watchesFor = (kind: Kind): readonly Watch[] => {
      const known = byKind.get(kind) ?? watchesOf(watchers, kind)
      byKind.set(kind, known)
      return known
    }
    return {
      enter: (...visited) => {
        const [node] = visited
        for (const { watcher, enter } of watchesFor(node.kind)) {
          if (watcher.skipped === null && enter?.(...visited) === false) watcher.skipped = node
        }
      },
      leave: (...visited) => {
        const [node] = visited
        for (const { watcher, leave } of watchesFor(node.kind)) {
          if (watcher.skipped === null) leave?.(...visited)
          else if (watcher.skipped === node) watcher.skipped = null
        }
      },
    }
  }
