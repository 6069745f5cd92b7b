import {
  getNamedType,
  GraphQLInputObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'
import { parts } from '../../contract/name-parts.ts'
import type { Operation } from '../operation/operation.ts'
import { isRelatedChange, isRowInput, type Planned } from '../variables/shape.ts'

/** Whether a row of the type may contain related ones. */
const isNesting = (type: GraphQLNamedType): boolean =>
  type instanceof GraphQLInputObjectType &&
  Object.values(type.getFields()).some((field) => {
    const { name } = getNamedType(field.type)
    return (
      isRelatedChange(name) ||
      [parts.parentInput, parts.childInput, parts.childrenInput].some((part) => name.endsWith(part))
    )
  })

/** Whether rows of the type are named within another row. */
const isBeside = ({ name }: GraphQLNamedType): boolean =>
  isRelatedChange(name) || [parts.rowInput, parts.keyInput].some((part) => name.endsWith(part))

/** Page sizes are written into statements; of an offset only its refusal matters, also if no page is read. */
const plannedArguments: ReadonlyMap<string, Planned> = new Map([
  ['first', 'size'],
  ['last', 'size'],
  ['offset', 'sign'],
])

/** If several places read one variable, the last of these determines most. */
const byDetail: readonly (Planned | undefined)[] = [undefined, 'count', 'sign', 'size', 'value']

/**
 * Variables whose value is written into statements (page sizes), may be refused (offsets) or decides what is selected
 * (directives, introspection). Those of the document's other operations count too, which makes shapes finer and never
 * coarser.
 *
 * @param limited whether there is a limit of rows for writes
 */
export function plannedVariables(
  schema: GraphQLSchema,
  operation: Operation,
  limited: boolean,
): ReadonlyMap<string, Planned> {
  const planned = new Map<string, Planned>()
  const info = new TypeInfo(schema)
  const isMeta = (name: string | undefined): boolean => name?.startsWith('__') === true
  const readsOf = (argument: string): Planned | undefined => {
    if (info.getDirective() != null || isMeta(info.getParentType()?.name) || isMeta(info.getFieldDef()?.name))
      return 'value'
    if (limited && argument === 'objects') return 'count'
    if (!isInt(info.getArgument()?.type)) return undefined
    const reads = plannedArguments.get(argument)
    // The number of rows read together depends on their values.
    return limited && (reads === 'size' || argument === 'atMost') ? 'value' : reads
  }
  const note = (name: string, reads: Planned): void => {
    if (byDetail.indexOf(reads) > byDetail.indexOf(planned.get(name))) planned.set(name, reads)
  }
  visit(
    operation.document,
    visitWithTypeInfo(info, {
      // Nested rows: their number decides which of the rows have a form of their own.
      Variable: ({ name }, _key, parent) => {
        const place = parent !== undefined && 'kind' in parent ? parent.kind : null
        const type = getNamedType(info.getInputType())
        if (place === Kind.VARIABLE_DEFINITION || type === undefined) return
        if (type.name === 'Boolean' && isRelatedChange(getNamedType(info.getParentInputType())?.name ?? ''))
          note(name.value, 'value')
        const isWithin = place !== Kind.ARGUMENT && (isRowInput(type.name) || (limited && isBeside(type)))
        if (isWithin || (limited && isNesting(type))) note(name.value, 'count')
      },
      Argument: ({ name, value }) => {
        if (value.kind !== Kind.VARIABLE) return
        const reads = readsOf(name.value)
        if (reads !== undefined) note(value.name.value, reads)
      },
    }),
  )
  return planned
}

const isInt = (type: GraphQLInputType | undefined): boolean => type !== undefined && getNamedType(type).name === 'Int'
