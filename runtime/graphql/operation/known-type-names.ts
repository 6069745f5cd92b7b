import {
  getEnterLeaveForKind,
  Kind,
  KnownTypeNamesRule,
  type ASTVisitFn,
  type ASTNode,
  type ASTVisitor,
  type ValidationContext,
} from 'graphql'

/**
 * The rule of graphql-js, called only for names that the schema does not know: it lists all types of a schema before it
 * looks at a document, and this schema creates a type when it is first named.
 */
export function knownTypeNames(context: ValidationContext): ASTVisitor {
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
