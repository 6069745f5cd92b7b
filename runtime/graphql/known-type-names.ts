import { KnownTypeNamesRule, type ASTVisitor, type ValidationContext } from 'graphql'

/**
 * The reference rule, asked only about names that the schema does not know: it lists all types of a schema before it looks at a
 * document, and ours makes a type when it is first named.
 */
export function knownTypeNames(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema()
  let reference: ASTVisitor | undefined
  return {
    NamedType: (...visited) => {
      const [node] = visited
      if (schema.getType(node.name.value) !== undefined) return undefined
      reference ??= KnownTypeNamesRule(context)
      return typeof reference.NamedType === 'function' ? reference.NamedType(...visited) : undefined
    },
  }
}
