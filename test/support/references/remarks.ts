import { readFileSync } from 'node:fs'
import { ts } from 'ts-morph'

/** A comment, or the title of a test, as one line of text. */
export interface Remark {
  readonly kind: 'comment' | 'title'
  readonly text: string
  /** File and line. */
  readonly at: string
}

export function remarksOf(file: string): readonly Remark[] {
  const source = readFileSync(file, 'utf8')
  const found = file.endsWith('.sql') ? sqlComments(source) : ofProgram(file, source)
  return found.map(({ kind, text, start }) => ({
    kind,
    text: text.replace(/\n\s*(?:\*(?!\/)|\/\/|--)?\s*/g, ' '),
    at: `${file}:${source.slice(0, start).split('\n').length}`,
  }))
}

interface Found {
  readonly kind: Remark['kind']
  readonly text: string
  readonly start: number
}

const sqlComments = (source: string): readonly Found[] =>
  [...source.matchAll(/(?:^|(?<=\s))--.*(?:\n--.*)*/gm)].map((match) => ({
    kind: 'comment',
    text: match[0],
    start: match.index,
  }))

/** Comments are recognized by the text, and not parsed. */
const quickly = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone }

function ofProgram(file: string, source: string): readonly Found[] {
  const tree = ts.createSourceFile(file, source, quickly)
  const [texts, titles]: [ts.Node[], Found[]] = [[], []]
  const visit = (node: ts.Node): void => {
    if (isText(node)) texts.push(node)
    const title = titleOf(node, tree)
    if (title !== null) titles.push({ kind: 'title', text: title.text, start: title.getStart(tree) })
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return [
    ...joined(
      source,
      commentsOutside(
        source,
        texts.map((node) => [node.getStart(tree), node.end] as const),
      ),
    ),
    ...titles,
  ]
}

/** Text that may contain the signs of a comment without being one. */
const isText = (node: ts.Node): boolean =>
  ts.isLiteralExpression(node) ||
  ts.isTemplateHead(node) ||
  ts.isTemplateMiddleOrTemplateTail(node) ||
  ts.isJsxText(node)

type Range = readonly [start: number, end: number]

const commentsOutside = (source: string, texts: readonly Range[]): readonly Range[] =>
  [...texts, [source.length, source.length] as const].flatMap(([start], index) => {
    const after = texts[index - 1]?.[1] ?? 0
    const between = source.slice(after, start)
    return [...between.matchAll(/\/\/.*|\/\*[^]*?\*\//g)].map((match): Range => {
      const at = after + match.index
      return [at, at + match[0].length]
    })
  })

/** Line comments of consecutive lines are one remark. */
function joined(source: string, ranges: readonly (readonly [number, number])[]): readonly Found[] {
  const found: { kind: 'comment'; text: string; start: number; end: number }[] = []
  for (const [start, end] of ranges) {
    const text = source.slice(start, end)
    const last = found.at(-1)
    if (last !== undefined && text.startsWith('//') && /^\n[ \t]*$/.test(source.slice(last.end, start))) {
      last.text += `\n${text}`
      last.end = end
    } else found.push({ kind: 'comment', text, start, end })
  }
  return found
}

/** The title of `it('…')`, `test.each(…)('…')`, `describe('…')` and the like. */
function titleOf(node: ts.Node, tree: ts.SourceFile): ts.StringLiteralLike | null {
  if (!ts.isCallExpression(node) || !/^(?:it|test|describe)\b/.test(node.expression.getText(tree))) return null
  const [title] = node.arguments
  return title !== undefined && ts.isStringLiteralLike(title) ? title : null
}
