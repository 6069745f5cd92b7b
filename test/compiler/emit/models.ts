import type { EntityBuilder } from '../../../runtime/contract/builder.ts'
import { objectId } from '../../../runtime/contract/facts.ts'
import type { ColumnFacts, EntityFacts, Manifest, ValueType } from '../../../runtime/contract/manifest.ts'
import { evaluateModule } from '../../../runtime/engine/load.ts'
import { entityModule } from '../../../compiler/emit/builders.ts'
import type { CallSql, ColumnSql, EntitySql, Model } from '../../../compiler/model/model.ts'

/** Hand-made models: small values that tests change one thing of. */

export const column = (name: string, type = 'int4', over: Partial<ColumnSql> = {}): ColumnSql => ({
  column: name,
  type,
  array: type.endsWith('[]'),
  plainDelimiter: true,
  json: { kind: 'native' },
  alike: true,
  notNull: false,
  ...over,
})

export const entity = (schema: string, relation: string, over: Partial<EntitySql> = {}): EntitySql => ({
  id: objectId(schema, relation),
  schema,
  relation,
  columns: [column('id', 'int4', { notNull: true })],
  key: ['id'],
  computed: [],
  ...over,
})

export const call = (schema: string, name: string, over: Partial<CallSql> = {}): CallSql => ({
  id: objectId(schema, name),
  schema,
  function: name,
  args: [],
  json: { kind: 'native' },
  ...over,
})

/** A model whose manifest says only what emission reads of it. */
export function model(entities: readonly EntitySql[], functions: readonly CallSql[] = []): Model {
  return {
    manifest: { ...emptyManifest, entities: entities.map(facts) },
    entities,
    functions,
  }
}

const emptyManifest: Manifest = {
  format: 1,
  schemas: [{ name: 'public', introspection: true, usage: ['anon'] }],
  holders: [],
  roles: { anon: { superuser: false, effective: ['anon', 'public'] } },
  enums: [],
  entities: [],
  functions: [],
  validation: true,
  refusal: null,
}

const facts = ({ id, schema, relation, columns, key }: EntitySql): EntityFacts => ({
  id,
  schema,
  relation,
  kind: 'table',
  name: relation,
  description: null,
  maxRows: 30,
  totalCount: false,
  aggregate: false,
  root: true,
  key,
  unique: true,
  columns: columns.map(columnFacts),
  relations: [],
  computed: [],
  grants: { select: ['anon'], insert: [], update: [], delete: [] },
})

const columnFacts = ({ column, notNull, array }: ColumnSql): ColumnFacts => ({
  column,
  field: column,
  type: valueType(array),
  typeSchema: null,
  notNull,
  description: null,
  maxLength: null,
  filter: true,
  order: true,
  aggregate: { sum: null, avg: null, min: null, max: null },
  input: true,
  grants: { select: [], insert: [], update: [] },
})

const valueType = (list: boolean): ValueType => ({ kind: 'scalar', name: 'String', list })

/** The builders themselves: what the runtime gets out of the emitted text. */
export const builderOf = (item: EntitySql): EntityBuilder =>
  evaluateModule(entityModule(item), 'entity') as EntityBuilder
