/**
 * The text of a parsed GraphQL document (specification of October 2021, section 2), as code generators and `gql` tags
 * contain it, so that they need no printer.
 */

/** A node of a GraphQL parser; the fields that a kind lacks are undefined. */
export interface GraphqlNode {
  readonly kind: string
}

interface AnyNode extends GraphqlNode {
  readonly name?: AnyNode
  readonly value?: unknown
  readonly [field: string]: unknown
}

type Printer = (node: AnyNode) => string

const one = (node: unknown): string => (node === undefined || node === null ? '' : printNode(node as AnyNode))
const list = (nodes: unknown): readonly string[] => (Array.isArray(nodes) ? nodes.map(one) : [])
const wrapped = (open: string, parts: readonly string[], close: string, by = ' '): string =>
  parts.length === 0 ? '' : open + parts.join(by) + close
const spaced = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ')
const name: Printer = (node) => one(node.name)
const directives: Printer = (node) => list(node['directives']).join(' ')
const selections: Printer = (node) => one(node['selectionSet'])
const pair: Printer = (node) => `${name(node)}: ${one(node.value)}`
const literal: Printer = ({ value }) => String(value)
const condition: Printer = (node) => (node['typeCondition'] == null ? '' : `on ${one(node['typeCondition'])}`)

const printers: Readonly<Record<string, Printer>> = {
  Document: ({ definitions }) => list(definitions).join('\n'),
  OperationDefinition: (node) => {
    const variables = wrapped('(', list(node['variableDefinitions']), ')', ', ')
    return spaced(String(node['operation']), name(node) + variables, directives(node), selections(node))
  },
  VariableDefinition: (node) => {
    const initial = node['defaultValue'] == null ? '' : `= ${one(node['defaultValue'])}`
    return spaced(`${one(node['variable'])}: ${one(node['type'])}`, initial, directives(node))
  },
  FragmentDefinition: (node) => spaced('fragment', name(node), condition(node), directives(node), selections(node)),
  SelectionSet: (node) => wrapped('{ ', list(node['selections']), ' }'),
  Field: (node) => {
    const alias = node['alias'] == null ? '' : `${one(node['alias'])}: `
    const called = alias + name(node) + wrapped('(', list(node['arguments']), ')', ', ')
    return spaced(called, directives(node), selections(node))
  },
  FragmentSpread: (node) => spaced(`...${name(node)}`, directives(node)),
  InlineFragment: (node) => spaced('...', condition(node), directives(node), selections(node)),
  Directive: (node) => `@${name(node)}${wrapped('(', list(node['arguments']), ')', ', ')}`,
  Argument: pair,
  ObjectField: pair,
  Variable: (node) => `$${name(node)}`,
  Name: literal,
  NamedType: name,
  ListType: (node) => `[${one(node['type'])}]`,
  NonNullType: (node) => `${one(node['type'])}!`,
  IntValue: literal,
  FloatValue: literal,
  EnumValue: literal,
  BooleanValue: literal,
  NullValue: () => 'null',
  // JSON's strings are GraphQL's (GraphQL specification 2.9.4), including parsed block strings.
  StringValue: ({ value }) => JSON.stringify(value),
  ListValue: ({ values }) => `[${list(values).join(', ')}]`,
  ObjectValue: ({ fields }) => `{${list(fields).join(', ')}}`,
}

/** Throws TypeError for a node that a request cannot contain, such as a type definition. */
function printNode(node: AnyNode): string {
  const printer = printers[node.kind]
  if (printer === undefined) throw new TypeError(`A GraphQL request cannot hold a ${node.kind}`)
  return printer(node)
}

const printed = new WeakMap<GraphqlNode, string>()

/** The text of a document, printed once per document. */
export function printDocument(document: GraphqlNode): string {
  const known = printed.get(document)
  if (known !== undefined) return known
  const text = printNode(document as AnyNode)
  printed.set(document, text)
  return text
}
