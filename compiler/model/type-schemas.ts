import type {
  EntityFacts,
  FunctionFacts,
  Manifest,
  TypeFacts,
  TypeSchemaFacts,
} from '../../runtime/contract/manifest.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import type { Annotated } from '../comments/annotated.ts'
import { schemaUsage } from './privileges.ts'

type Served = Pick<Manifest, 'entities' | 'functions' | 'composites' | 'extensions'>

/**
 * The unserved schemas with types of the API, and without USAGE for PUBLIC: a role without USAGE can print a column of
 * such a type, but cannot write its values (spec/graphql.md 1.4).
 */
export function* typeSchemaFacts(
  memo: Memo,
  { typeSchemas = [] }: Annotated,
  served: Served,
): Steps<readonly TypeSchemaFacts[]> {
  const facts = typeSchemas.map((schema) => ({ name: schema.name, usage: schemaUsage(schema) }))
  const closed = facts.filter(({ usage }) => !usage.includes('public'))
  if (closed.length === 0) return []
  const named = yield* schemasNamed(memo, served)
  return closed.filter(({ name }) => named.has(name))
}

function* schemasNamed(
  memo: Memo,
  { entities, functions, composites = [], extensions = {} }: Served,
): Steps<ReadonlySet<string>> {
  return new Set([
    ...memo.one(namesIn, yield* memo.map(ofEntity, entities)),
    ...Object.values(extensions),
    ...functions.flatMap(ofFunction),
    ...composites.flatMap(({ fields }) => fields.flatMap(ofType)),
  ])
}

const namesIn = (lists: readonly (readonly string[])[]): ReadonlySet<string> => new Set(lists.flat())

const ofEntity = ({ columns, computed }: EntityFacts): readonly string[] => [
  ...new Set([...columns.flatMap(ofType), ...computed.flatMap(ofFunction)]),
]

const ofFunction = ({ args, result }: FunctionFacts): readonly string[] => [
  ...args.flatMap(ofType),
  ...(result.kind === 'value' ? ofType(result) : []),
]

const ofType = ({ typeSchema, underSchema }: Omit<TypeFacts, 'type'>): readonly string[] =>
  [typeSchema, underSchema].flatMap((name) => name ?? [])
