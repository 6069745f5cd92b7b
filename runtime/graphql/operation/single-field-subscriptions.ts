import {
  GraphQLError,
  Kind,
  type ASTVisitor,
  type FieldNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql'

/**
 * A subscription has one root field, which is not introspection and does not depend on @skip or @include. The rule of
 * this version of graphql-js throws if one of these has a variable.
 */
export function singleFieldSubscriptions(context: ValidationContext): ASTVisitor {
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
