import type { ApiTable, Collected, RowField, RowWrite } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { readChanges } from './changes.ts'
import { readCollectedPage } from './collected.ts'
import { responses, selectionsOf, surroundingsOf, type Context, type Nodes } from './context.ts'
import { readChosen } from './default-filter.ts'
import { readFilter, readNode } from './filter.ts'
import { checksOfGroups } from './groups.ts'
import { checkNested, namesRelated } from './nested.ts'
import { readOrder, readPage } from './page.ts'
import { Refused } from './refusal.ts'
import { checkRelated, namesRelatedRows } from './related-changes.ts'
import { argument, collectFields } from './selection.ts'
import type { Json } from './world.ts'
import { readConflict, readObjects, readRows } from './write.ts'

/**
 * Reads the arguments of a field and of everything below it, whether or not a row will use them. If several are
 * refused, any of them may be the first.
 */
export function checkRoot(context: Context, root: 'Query' | 'Mutation', nodes: Nodes): readonly string[] {
  const field = (root === 'Query' ? context.api.query : context.api.mutation).get(nodes[0].name.value)
  if (field === undefined) return []
  switch (field.kind) {
    case 'byKey':
    case 'lookup':
      return checkRow(context, field.table, nodes)
    case 'node':
      return [
        ...reasonsOf(() =>
          readNode(context.world, context.api.tables, String(argument(context.scope, nodes[0], 'nodeId'))),
        ),
        ...context.api.tables.flatMap((table) => checkRow(context, table, nodes)),
      ]
    case 'call': {
      const { body } = field.function
      if (body.kind === 'rows') return checkCollection(context, apiTableOf(context.api, body.table), nodes)
      return body.kind === 'row' ? checkRow(context, apiTableOf(context.api, body.table), nodes) : []
    }
    case 'collection':
      return checkCollection(context, field.table, nodes)
    case 'collections':
      return checkCollected(context, field.collected, nodes)
    case 'updateRow':
    case 'deleteRow':
      return [
        ...(field.kind === 'updateRow' ? checkRowChange(context, field, nodes) : []),
        ...checkRow(context, field.table, nodes),
      ]
    case 'updateRows':
      return [
        ...reasonsOf(() => readRows(context.world, field.table, (name) => argument(context.scope, nodes[0], name))),
        ...checkMembers(context, `${field.table.type}${responses.update}`, nodes, 'records', (inner) =>
          checkRow(context, field.table, inner),
        ),
      ]
    case 'insert':
    case 'update':
    case 'delete':
      return [
        ...checkWrite(context, field.kind, field.table, nodes),
        ...checkMembers(context, `${field.table.type}${responses[field.kind]}`, nodes, 'records', (inner) =>
          checkRow(context, field.table, inner),
        ),
      ]
  }
}

function reasonsOf(read: () => unknown): readonly string[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof Refused) return error.reasons
    throw error
  }
}

function checkWrite(
  context: Context,
  kind: 'insert' | 'update' | 'delete',
  table: ApiTable,
  nodes: Nodes,
): readonly string[] {
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  return [
    ...(kind === 'insert'
      ? [
          ...checkObjects(context, table, arg),
          ...reasonsOf(() => readConflict(surroundingsOf(context, null), table, arg)),
        ]
      : reasonsOf(() => readFilter(surroundingsOf(context, null), table, arg('filter')))),
    ...(kind === 'update' ? checkChanges(context, table, nodes) : []),
  ]
}

function checkObjects(context: Context, table: ApiTable, arg: (name: string) => Json | undefined): readonly string[] {
  const objects = arg('objects')
  if (!namesRelated(context, table, objects)) return reasonsOf(() => readObjects(context.world, table, arg))
  return checkNested(context, table, objects)
}

const checkChanges = (context: Context, table: ApiTable, nodes: Nodes): readonly string[] =>
  reasonsOf(() => readChanges(context.world, table, (name) => argument(context.scope, nodes[0], name)))

function checkRowChange(context: Context, field: RowWrite, nodes: Nodes): readonly string[] {
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  return namesRelatedRows(context, field, arg)
    ? checkRelated(context, field.table, arg)
    : checkChanges(context, field.table, nodes)
}

/** Looks into the selections of one member of a type. */
const checkMembers = (
  context: Context,
  type: string,
  nodes: Nodes,
  member: string,
  check: (inner: Nodes) => readonly string[],
): readonly string[] =>
  [...collectFields(context.scope, type, selectionsOf(nodes)).values()].flatMap((inner) =>
    inner[0].name.value === member ? check(inner) : [],
  )

function checkRow(context: Context, table: ApiTable, nodes: Nodes): readonly string[] {
  return [...collectFields(context.scope, table.type, selectionsOf(nodes)).values()].flatMap((inner) => {
    const field = table.fields.get(inner[0].name.value)
    if (field?.kind === 'union')
      return field.of.flatMap(({ target }) => checkRow(context, apiTableOf(context.api, target), inner))
    const link = field === undefined ? null : linkOf(field)
    if (link === null) return []
    const target = apiTableOf(context.api, link.target)
    return link.many ? checkCollection(context, target, inner) : checkRow(context, target, inner)
  })
}

/** The target of a field with rows. */
export function linkOf(field: RowField): { readonly target: string; readonly many: boolean } | null {
  if (field.kind === 'relation') return field
  if (field.kind !== 'computed' || !('target' in field.function.body)) return null
  return { target: field.function.body.target, many: field.function.body.kind === 'computedRows' }
}

function checkCollection(context: Context, table: ApiTable, nodes: Nodes): readonly string[] {
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  return [
    ...reasonsOf(() => readPage(arg, readOrder(surroundingsOf(context, null), table, arg('orderBy')).length)),
    ...reasonsOf(() => readChosen(surroundingsOf(context, null), table, arg('filter'))),
    ...checkMembers(context, `${table.type}Connection`, nodes, 'groups', (groups) =>
      checksOfGroups(context, table, groups).flatMap(reasonsOf),
    ),
    ...checkMembers(context, `${table.type}Connection`, nodes, 'edges', (edges) =>
      [['node', table.sketch.name] as const, ...table.between].flatMap(([member, name]) =>
        checkMembers(context, `${table.type}Edge`, edges, member, (inner) =>
          checkRow(context, apiTableOf(context.api, name), inner),
        ),
      ),
    ),
  ]
}

function checkCollected(context: Context, collected: Collected, nodes: Nodes): readonly string[] {
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  const around = surroundingsOf(context, null)
  return [
    ...reasonsOf(() => readCollectedPage(around, collected, arg)),
    ...collected.of.flatMap((table) => reasonsOf(() => readChosen(around, table, arg('filter')))),
    ...checkMembers(context, `${collected.name}Connection`, nodes, 'edges', (edges) =>
      checkMembers(context, `${collected.name}Edge`, edges, 'node', (inner) =>
        collected.of.flatMap((table) => checkRow(context, table, inner)),
      ),
    ),
  ]
}
