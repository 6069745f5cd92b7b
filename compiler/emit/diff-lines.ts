import { structuredPatch } from 'diff'

/** The lines of context around a change. */
const context = 2

/**
 * The difference of two texts, by lines: hunks of changed lines with some context, `@@ line @@` before each. Empty if
 * the texts are equal.
 */
export function diffLines(before: string, after: string): string {
  const { hunks } = structuredPatch('', '', ended(before), ended(after), '', '', { context })
  const printed = hunks.flatMap(({ newStart, lines }) => [`@@ ${newStart} @@`, ...lines])
  return printed.map((line) => `${line}\n`).join('')
}

/** A missing newline at the end is not a difference. */
const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
