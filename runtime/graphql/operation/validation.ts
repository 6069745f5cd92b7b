import {
  ExecutableDefinitionsRule,
  FieldsOnCorrectTypeRule,
  FragmentsOnCompositeTypesRule,
  KnownArgumentNamesRule,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  KnownTypeNamesRule,
  LoneAnonymousOperationRule,
  MaxIntrospectionDepthRule,
  NoFragmentCyclesRule,
  NoSchemaIntrospectionCustomRule,
  OverlappingFieldsCanBeMergedRule,
  ProvidedRequiredArgumentsRule,
  SingleFieldSubscriptionsRule,
  specifiedRules,
  UniqueOperationNamesRule,
  validate,
  type DocumentNode,
  GraphQLError,
  type ValidationRule,
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  getEnterLeaveForKind,
  type ASTVisitFn,
  type ASTNode,
  type ASTVisitor,
  type ValidationContext,
} from 'graphql'
import type { RoleView } from '../../engine/schema/schema.ts'
import { refuse } from '../protocol/failures.ts'

/** Replacements of rules of graphql-js. */
const ours: ReadonlyMap<ValidationRule, ValidationRule> = new Map([
  [KnownTypeNamesRule, knownTypeNames],
  [SingleFieldSubscriptionsRule, singleFieldSubscriptions],
])

/** All rules of the specification (spec/graphql.md 11, left-hand column). */
const strictRules: readonly ValidationRule[] = specifiedRules.map((rule) => ours.get(rule) ?? rule)

/**
 * The rules that remain when a schema comment switches validation off (spec/graphql.md, decision 9): without these a
 * document has no meaning. The rules about unused, undeclared and loosely typed names are left out.
 */
const lenientRules: readonly ValidationRule[] = [
  ExecutableDefinitionsRule,
  UniqueOperationNamesRule,
  LoneAnonymousOperationRule,
  knownTypeNames,
  FragmentsOnCompositeTypesRule,
  FieldsOnCorrectTypeRule,
  KnownFragmentNamesRule,
  NoFragmentCyclesRule,
  KnownDirectivesRule,
  KnownArgumentNamesRule,
  ProvidedRequiredArgumentsRule,
  OverlappingFieldsCanBeMergedRule,
  MaxIntrospectionDepthRule,
  singleFieldSubscriptions,
]

/** A suggestion compares a name with every name of a type; more problems than this are not typing errors. */
const maxSuggested = 20

/** The product of problems and relations whose names are compared within some milliseconds. */
const quickSuggestions = 300

/**
 * The problems of a document, in the words of graphql-js, up to its limit of a hundred. Suggestions are made only for
 * documents with few problems, because hundreds of wrong names would cost seconds on a large schema.
 * @throws TakesLong in quick mode
 */
export function problemsOf(view: RoleView, document: DocumentNode, pace: Patience): readonly GraphQLError[] {
  const base = view.visible.manifest.validation ? strictRules : lenientRules
  const rules = [asOneRule(view.introspection ? base : [...base, NoSchemaIntrospectionCustomRule])]
  const problems = validate(view.schema, document, rules, { hideSuggestions: true })
  const suggests = problems.length > 0 && problems.length <= maxSuggested
  const names = problems.length * view.visible.manifest.entities.length
  if (suggests && pace === 'quick' && names > quickSuggestions) throw new TakesLong()
  return suggests ? validate(view.schema, document, rules) : problems
}

/**
 * Whether validation was given up: comparing all fields that may be merged costs the square of a document, so
 * graphql-js does a bounded part of it.
 */
export const isAborted = ({ message }: GraphQLError): boolean => message === 'Validation aborted.'

/**
 * Refusals that protect the server and always apply (spec/graphql.md, decision 10). Every fragment is visited once, so
 * the cost grows with the document and not with its expansion.
 */
const maxDepth = 32
const maxSelections = 1_000_000
/** A selection of an introspection may be answered for every type of a schema; the common query has some 250. */
const maxIntrospected = 500

interface Size {
  readonly depth: number
  /** With fragments expanded. */
  readonly selections: number
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/**
 * @param maxFields the owner's limit (spec/graphql.md 17, `limits`), or null
 * @returns its size; null if a fragment contains itself
 */
export function checkLimits(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  maxFields: number | null = null,
): Size | null {
  const fragments = fragmentsOf(document)
  const size = measureSelection(operation.selectionSet, fragments)
  // A document with a cycle has no size; validation refuses it with the specification's message.
  if (size === null) return null
  if (size.depth > maxDepth) {
    throw refuse(
      'DOCUMENT_TOO_DEEP',
      `The selections are nested ${size.depth} levels deep; at most ${maxDepth} levels are allowed.`,
    )
  }
  if (size.selections > maxSelections) {
    throw refuse(
      'DOCUMENT_TOO_LARGE',
      `The document selects more than ${maxSelections} fields after its fragments are expanded.`,
    )
  }
  if (maxFields !== null && size.selections > maxFields) {
    throw refuse(
      'FIELD_LIMIT_EXCEEDED',
      `The document selects ${size.selections} fields after its fragments are expanded; at most ${maxFields} are allowed.`,
    )
  }
  return size
}

export const selectionsOf = (operation: OperationDefinitionNode, fragments: Fragments): number =>
  measureSelection(operation.selectionSet, fragments)?.selections ?? 0

/** @param nodes the __schema and __type fields of an operation */
export function checkIntrospection(nodes: readonly FieldNode[], fragments: Fragments): void {
  const size = measureSelection({ kind: Kind.SELECTION_SET, selections: nodes }, fragments)
  if (size !== null && size.selections > maxIntrospected) {
    throw refuse(
      'DOCUMENT_TOO_LARGE',
      `The document selects more than ${maxIntrospected} fields of __schema and __type.`,
    )
  }
}

/** How long the work may take: unlimited, or some milliseconds. */
export type Patience = 'patient' | 'quick'

/** Thrown in quick mode by work that would take longer than some milliseconds. */
export class TakesLong extends Error {
  override readonly name = 'TakesLong'
}

export const fragmentsOf = (document: DocumentNode): Fragments =>
  new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  )

/** Depth and number of selections with fragments expanded, or null if a fragment contains itself. */
function measureSelection(root: SelectionSetNode, fragments: Fragments): Size | null {
  const known = new Map<string, Size>()
  const open = new Set<string>()
  let cyclic = false

  const spread = (name: string): Size => {
    const fragment = fragments.get(name)
    const size = known.get(name)
    if (size !== undefined) return size
    if (fragment === undefined) return { depth: 0, selections: 0 }
    if (open.has(name)) {
      cyclic = true
      return { depth: 0, selections: 0 }
    }
    open.add(name)
    const measured = ofSet(fragment.selectionSet)
    open.delete(name)
    known.set(name, measured)
    return measured
  }
  const ofSet = (set: SelectionSetNode): Size => {
    let depth = 1
    let selections = 0
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const inner = selection.selectionSet === undefined ? { depth: 0, selections: 0 } : ofSet(selection.selectionSet)
        depth = Math.max(depth, inner.depth + 1)
        selections += 1 + inner.selections
      } else {
        const inner =
          selection.kind === Kind.INLINE_FRAGMENT ? ofSet(selection.selectionSet) : spread(selection.name.value)
        depth = Math.max(depth, inner.depth)
        selections += inner.selections
      }
    }
    return { depth, selections }
  }
  const size = ofSet(root)
  return cyclic ? null : size
}

/**
 * The rule of graphql-js, called only for names that the schema does not know: it lists all types of a schema before it
 * looks at a document, and this schema creates a type when it is first named.
 */
function knownTypeNames(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema()
  let reference: ASTVisitFn<ASTNode> | undefined
  return {
    NamedType: (...visited) => {
      if (schema.getType(visited[0].name.value) !== undefined) return
      reference ??= getEnterLeaveForKind(KnownTypeNamesRule(context), Kind.NAMED_TYPE).enter
      reference?.(...visited)
    },
  }
}

/**
 * A subscription has one root field, which is not introspection and does not depend on @skip or @include. The rule of
 * this version of graphql-js throws if one of these has a variable.
 */
function singleFieldSubscriptions(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition: ({ operation, name, selectionSet }) => {
      if (operation !== 'subscription' || context.getSchema().getSubscriptionType() == null) return
      const subscription = name === undefined ? 'Anonymous Subscription' : `Subscription "${name.value}"`
      const { fields, depends } = rootFields(context, selectionSet)
      const report = (problem: string, nodes: readonly FieldNode[]): void =>
        context.reportError(new GraphQLError(`${subscription} must ${problem}`, { nodes }))
      const others = [...fields.values()].slice(1).flat()
      if (others.length > 0) report('select only one top level field.', others)
      if (depends.length > 0) report('not use `@skip` or `@include` directives in the top level selection.', depends)
      for (const nodes of fields.values()) {
        if (nodes[0]?.name.value.startsWith('__') === true)
          report('not select an introspection top level field.', nodes)
      }
    },
  }
}

interface RootFields {
  /** By response key. */
  readonly fields: ReadonlyMap<string, readonly FieldNode[]>
  /** Fields that a directive may leave out, directly or with their fragment. */
  readonly depends: readonly FieldNode[]
}

/** Each fragment is visited once, so that cycles and repetitions cost nothing. */
function rootFields(context: ValidationContext, root: SelectionSetNode): RootFields {
  const fields = new Map<string, FieldNode[]>()
  const depends: FieldNode[] = []
  const seen = new Set<string>()
  const collect = ({ selections }: SelectionSetNode, isSure: boolean): void => {
    for (const selection of selections) {
      const isOwn = isSure && !(selection.directives ?? []).some(({ name }) => /^(skip|include)$/.test(name.value))
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value
        const before = fields.get(key)
        if (before === undefined) fields.set(key, [selection])
        else before.push(selection)
        if (!isOwn) depends.push(selection)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet, isOwn)
      } else if (!seen.has(selection.name.value)) {
        seen.add(selection.name.value)
        const fragment = context.getFragment(selection.name.value)
        if (fragment != null) collect(fragment.selectionSet, isOwn)
      }
    }
  }
  collect(root, true)
  return { fields, depends }
}

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
