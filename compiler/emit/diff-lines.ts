/** A line of a diff: kept, removed or added. */
interface Line {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

const context = 2
/**
 * Beyond this many pairs of lines the changed middle is shown as replaced whole: the table below grows with their
 * product.
 */
const mostPairs = 4_000_000

/**
 * What changes from one text to another, by lines: hunks of changed lines with a little around them, `@@ line @@`
 * before each. Empty when the texts are equal.
 */
export function diffLines(before: string, after: string): string {
  const lines = compare(splitLines(before), splitLines(after))
  const shown = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ mark }) => mark !== ' '),
  )
  const printed: string[] = []
  let number = 1
  lines.forEach((line, index) => {
    if (shown[index]) {
      if (!shown[index - 1]) printed.push(`@@ ${number} @@`)
      printed.push(line.mark + line.text)
    }
    if (line.mark !== '-') number += 1
  })
  return printed.map((line) => `${line}\n`).join('')
}

const splitLines = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  const head = commonStart(before, after)
  const tail = commonStart(before.slice(head).reverse(), after.slice(head).reverse())
  return [
    ...marked(' ', before.slice(0, head)),
    ...compareMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...marked(' ', before.slice(before.length - tail)),
  ]
}

const marked = (mark: Line['mark'], texts: readonly string[]): readonly Line[] => texts.map((text) => ({ mark, text }))

function commonStart(a: readonly string[], b: readonly string[]): number {
  const most = Math.min(a.length, b.length)
  for (let index = 0; index < most; index++) if (a[index] !== b[index]) return index
  return most
}

/** By the longest common subsequence of lines. */
function compareMiddle(before: readonly string[], after: readonly string[]): readonly Line[] {
  if (before.length * after.length > mostPairs) return [...marked('-', before), ...marked('+', after)]
  const common = commonLengths(before, after)
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]]
    if (old !== undefined && old === fresh) {
      lines.push({ mark: ' ', text: old })
      i++
      j++
    } else if (old !== undefined && (fresh === undefined || (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0))) {
      lines.push({ mark: '-', text: old })
      i++
    } else {
      lines.push({ mark: '+', text: fresh ?? '' })
      j++
    }
  }
  return lines
}

/** Length of the longest common subsequence of what follows line i here and line j there. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly Uint32Array[] {
  const table = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1))
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const longest =
        before[i] === after[j]
          ? (table[i + 1]?.[j + 1] ?? 0) + 1
          : Math.max(table[i + 1]?.[j] ?? 0, table[i]?.[j + 1] ?? 0)
      const row = table[i]
      if (row !== undefined) row[j] = longest
    }
  }
  return table
}
