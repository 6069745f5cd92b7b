import type { Draw } from './draw.ts'
import { absent, place, type Tree } from './input.ts'
import type { Scene } from './scene.ts'

/** Operands of the additions' operators (spec/graphql.md 17.1), with values that are common among drawn ones. */

const queries: Readonly<Record<string, readonly string[]>> = {
  search: ['a', 'a b', '"a b"', 'x or b', '-a', 'b -x', 'a "b" or "x"', '', '%', 'É', 'q'],
  searchPhrase: ['a b', 'b a', 'a', 'a b b', '', 'it s'],
  searchPlain: ['a b', 'b', 'x a', '', '日本', 'null'],
}
const texts = ['a', 'A', 'Ab', 'É', 'é', '', 'A%B', '"Q"', "IT'S", 'null', 'A\\B', '{}', 'a,B']
const lqueries = ['a.*', '*.b', '*', 'a|b', '*.b.*', '*{2}', 'a.*{1}', 'a|c.b.*']
const numbers = [1, 3, 0, 5, -1, 8, 2147483647]

const operands: Readonly<Record<string, (scene: Scene) => readonly [type: string, operand: Tree]>> = {
  ...Object.fromEntries(
    Object.entries(queries).map(([operator, texts]) => [
      operator,
      ({ draw }: Scene): readonly [string, Tree] => [
        'SearchQuery',
        new Map([
          ['query', draw.pick(texts)],
          ['config', 'simple'],
        ]),
      ],
    ]),
  ),
  ieq: ({ draw }) => ['String', draw.pick(texts)],
  iin: ({ draw }) => ['[String!]', draw.chance(15) ? 'A' : draw.some(texts, 30)],
  matches: ({ draw }) => ['Opaque', draw.pick(lqueries)],
  matchesAny: ({ draw }) => ['[Opaque!]', draw.some(lqueries, 30)],
  matchesText: ({ draw }) => ['Opaque', draw.pick(['a', 'a & b', '!c', 'b | c', 'a & !b'])],
  depth: ({ draw }) => ['Int', draw.pick([1, 2, 0, 3])],
  containsValue: ({ draw }) => ['Int', draw.pick(numbers)],
  isEmpty: ({ draw }) => ['Boolean', draw.chance(50)],
  family: ({ draw }) => ['Int', draw.pick([4, 6, 5])],
}

/** A query of one word: the rank for several depends on the server. */
export const drawWord = (draw: Draw): string => draw.pick(['a', 'b', 'x', 'É', 'null', 'q'])

/** Undefined if the operator takes the common operands of the column. */
export function drawOwnOperand(scene: Scene, operator: string): Tree | undefined {
  const made = operands[operator]
  if (made === undefined) return undefined
  const [type, operand] = made(scene)
  if (scene.draw.chance(4)) return absent(scene, type)
  return place(scene, type, scene.draw.chance(5) ? null : operand)
}
