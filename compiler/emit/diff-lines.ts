import { structuredPatch } from 'diff'

/** Lines around a change that are shown. */
const context = 2

/**
 * What changes from one text to another, by lines: hunks of changed lines with a little around them, `@@ line @@`
 * before each. Empty when the texts are equal.
 */
export function diffLines(before: string, after: string): string {
  const { hunks } = structuredPatch('', '', ended(before), ended(after), '', '', { context })
  const printed = hunks.flatMap(({ newStart, lines }) => [`@@ ${newStart} @@`, ...lines])
  return printed.map((line) => `${line}\n`).join('')
}

/** A last line without its end is the same line. */
const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
