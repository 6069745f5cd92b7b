import type { EntityFacts, EnumFacts, FunctionFacts, RelationFacts } from '../../../runtime/contract/manifest.ts'
import { relationsBut } from '../../../runtime/engine/related.ts'
import type { RoleView } from '../../../runtime/engine/schema/schema.ts'
import { nameObject } from '../../catalog/diagnostics/object-name.ts'
import type { ApiChange } from './change.ts'

/**
 * Names that denote another object afterwards: a client gets another answer without any error. If the former object is
 * gone and the present one is new, it was renamed or replaced, and nothing is reported.
 */
export const movedNames = (before: RoleView, after: RoleView): readonly ApiChange[] => [
  ...movedTypes(before, after),
  ...movedFields(before, after),
  ...movedFunctions(before, after),
  ...movedValues(before, after),
]

const moved = (description: string): readonly ApiChange[] => [
  { severity: 'dangerous', kind: 'NAME_MOVED', description },
]

const entityName = ({ kind, schema, relation }: EntityFacts): string => nameObject(kind, schema, relation)

function movedTypes({ visible: before }: RoleView, { visible: after }: RoleView): readonly ApiChange[] {
  return after.exposed.flatMap((now) => {
    const old = before.exposed.find(({ name }) => name === now.name)
    if (old === undefined || old.id === now.id) return []
    const isMoved = after.entity(old.id) !== undefined || before.entity(now.id) !== undefined
    return isMoved ? moved(`${now.name} is ${entityName(now)} now, no longer ${entityName(old)}.`) : []
  })
}

/** The object of a field; its text is unique in its type. */
type Objects = ReadonlyMap<string, string>

const columnText = (column: string): string => nameObject('column', column)

const relationText = ({ target, local, foreign }: RelationFacts): string =>
  `the relation ${local.join(', ')} -> ${nameObject('', ...(JSON.parse(target) as readonly string[])).trim()} (${foreign.join(', ')})`

const functionText = ({ schema, function: name }: FunctionFacts): string => nameObject('function', schema, name)

/** The object of each field for a role: the last of columns, relations and computed fields. */
const holders = ({ visible }: RoleView, entity: EntityFacts): Objects =>
  new Map([
    ...entity.columns.flatMap((column): (readonly [string, string])[] =>
      column.field !== null && visible.seesColumn(entity, column) ? [[column.field, columnText(column.column)]] : [],
    ),
    ...[...relationsBut(visible, entity, [])].map(([field, { relation }]): readonly [string, string] => [
      field,
      relationText(relation),
    ]),
    ...entity.computed.flatMap((fn): (readonly [string, string])[] =>
      visible.seesComputed(entity, fn) ? [[fn.field, functionText(fn)]] : [],
    ),
  ])

/** Every object, regardless of privileges. */
const objectsOf = ({ columns, relations, computed }: EntityFacts): ReadonlySet<string> =>
  new Set([
    ...columns.map(({ column }) => columnText(column)),
    ...relations.map(relationText),
    ...computed.map(functionText),
  ])

function movedFields(before: RoleView, after: RoleView): readonly ApiChange[] {
  return after.visible.exposed.flatMap((now) => {
    const old = before.visible.exposed.find(({ id, name }) => id === now.id && name === now.name)
    if (old === undefined) return []
    const [had, was, is] = [holders(before, old), objectsOf(old), objectsOf(now)]
    return [...holders(after, now)].flatMap(([field, object]) => {
      const former = had.get(field)
      if (former === undefined || former === object || !(is.has(former) || was.has(object))) return []
      return moved(`${now.name}.${field} is ${object} now, no longer ${former}.`)
    })
  })
}

function movedFunctions({ visible: before }: RoleView, { visible: after }: RoleView): readonly ApiChange[] {
  const known = new Set(before.manifest.functions.map(({ id }) => id))
  const present = new Set(after.manifest.functions.map(({ id }) => id))
  return after.manifest.functions.filter(after.seesFunction).flatMap((now) => {
    const old = before.manifest.functions.find(
      (fn) => fn.field === now.field && fn.volatile === now.volatile && before.seesFunction(fn),
    )
    if (old === undefined || old.id === now.id || !(present.has(old.id) || known.has(now.id))) return []
    const root = now.volatile ? 'Mutation' : 'Query'
    return moved(`${root}.${now.field} is ${functionText(now)} now, no longer ${functionText(old)}.`)
  })
}

const labelsOf = ({ values }: EnumFacts): ReadonlyMap<string, string> =>
  new Map(values.map(({ name, label }) => [name, label]))

function movedValues({ visible: before }: RoleView, { visible: after }: RoleView): readonly ApiChange[] {
  return after.manifest.enums.flatMap((now) => {
    const old = before.manifest.enums.find(({ id, name }) => id === now.id && name === now.name)
    if (old === undefined || !after.names.ownsEnum(now) || !after.can(now.usage)) return []
    const had = labelsOf(old)
    const [was, is] = [new Set(had.values()), new Set(labelsOf(now).values())]
    return now.values.flatMap(({ name, label }) => {
      const former = had.get(name)
      if (former === undefined || former === label || !(is.has(former) || was.has(label))) return []
      return moved(`${now.name}.${name} is the label '${label}' now, no longer '${former}'.`)
    })
  })
}
