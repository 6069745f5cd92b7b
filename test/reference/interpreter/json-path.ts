import { compareDecimals } from './decimal.ts'
import { isList, isMap, isNumber, readJson, type JsonNode } from './json.ts'

/**
 * The drawn part of SQL/JSON paths, in the lax mode (Postgres manual 9.16.2): members, elements, filters, and
 * comparisons with a literal or a variable.
 */

type Truth = boolean | null

interface Scope {
  readonly root: JsonNode
  readonly variables: JsonNode
}

const comparison = /^(.*?)\s*(==|>)\s*("[^"]*"|-?\d+|true|false|null|\$\w+)$/

/** The matches of the path, in order. */
export function findByPath(root: JsonNode, path: string, variables: JsonNode): readonly JsonNode[] {
  return evaluate({ root, variables }, path, root)
}

/** The result of the predicate, possibly unknown. A path without a predicate returns its matches. */
export function isMatch(root: JsonNode, path: string, variables: JsonNode): Truth {
  const scope = { root, variables }
  if (comparison.test(path)) return holds(scope, path, root)
  const found = evaluate(scope, path, root)
  return found.length === 1 && typeof found[0] === 'boolean' ? found[0] : null
}

/** Steps of a path from `$`, or from `@`, which is `current`. */
function evaluate(scope: Scope, path: string, current: JsonNode): readonly JsonNode[] {
  const [, start = '', steps = ''] = /^([$@])(.*)$/s.exec(path) ?? []
  if (start === '') throw new Error(`the path ${path} is not known`)
  let found: readonly JsonNode[] = [start === '$' ? scope.root : current]
  let rest = steps
  while (rest !== '') {
    const [step = '', member, index, predicate] = /^(?:\.(\w+|\*)|\[(\d+|\*)\]|\s*\? \(([^)]*)\))/.exec(rest) ?? []
    if (step === '') throw new Error(`the path ${path} is not known`)
    if (member !== undefined) found = found.flatMap(unwrapped).flatMap((node) => membersOf(node, member))
    else if (index !== undefined) found = found.flatMap((node) => elementsOf(node, index))
    else found = found.flatMap(unwrapped).filter((node) => holds(scope, predicate ?? '', node) === true)
    rest = rest.slice(step.length)
  }
  return found
}

const unwrapped = (node: JsonNode): readonly JsonNode[] => (isList(node) ? node : [node])

function membersOf(node: JsonNode, name: string): readonly JsonNode[] {
  if (!isMap(node)) return []
  if (name === '*') return [...node.values()]
  const member = node.get(name)
  return member === undefined ? [] : [member]
}

function elementsOf(node: JsonNode, index: string): readonly JsonNode[] {
  const items = unwrapped(node)
  return index === '*' ? items : items.slice(Number(index), Number(index) + 1)
}

/** True if true for any item, else unknown if one cannot be compared. */
function holds(scope: Scope, predicate: string, current: JsonNode): Truth {
  const [, path = '', operator = '', operand = ''] = comparison.exec(predicate) ?? []
  const wanted = operand.startsWith('$') ? variable(scope, operand.slice(1)) : readJson(operand)
  const truths = evaluate(scope, path, current)
    .flatMap(unwrapped)
    .map((item) => compare(item, operator, wanted))
  return truths.includes(true) ? true : truths.includes(null) ? null : false
}

function variable({ variables }: Scope, name: string): JsonNode {
  const value = isMap(variables) ? variables.get(name) : undefined
  if (value === undefined) throw new Error(`the variable ${name} is not drawn`)
  return value
}

function compare(a: JsonNode, operator: string, b: JsonNode): Truth {
  if (a === null || b === null) return operator === '==' && a === b
  if (isNumber(a) && isNumber(b)) {
    const order = compareDecimals(a.number, b.number)
    return operator === '==' ? order === 0 : order > 0
  }
  if (typeof a !== typeof b || typeof a === 'object') return null
  return operator === '==' ? a === b : a > b
}
