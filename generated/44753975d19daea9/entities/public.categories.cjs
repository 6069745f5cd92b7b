/** SQL builders of "public"."categories". Compiled from the database: change that, not this file. */

/** Functions of a type's values; casts follow a text parameter, or one that holds an array. */
const values = (type, recordType, cast, listCast, json, cursor = (value) => value) => ({
  json,
  cursor,
  operand: (parameter) => parameter + cast,
  operands: (parameter) => parameter + listCast,
  recordType,
  fromRecord: (value) => '(' + value + ')::' + type,
})

const as_integer = values('integer', 'text', '::integer', '::integer[]', (value) => value)
const as_text = values('text', 'text', '::text', '::text[]', (value) => value)
const as_smallint = values('smallint', 'text', '::smallint', '::smallint[]', (value) => value)

module.exports = {
  relation: '"public"."categories"',
  columns: {
    __proto__: null,
    'id': { of: (row) => row + '."id"', notNull: true, ...as_integer },
    'parent_id': { of: (row) => row + '."parent_id"', notNull: false, ...as_integer },
    'slug': { of: (row) => row + '."slug"', notNull: true, ...as_text },
    'name': { of: (row) => row + '."name"', notNull: true, ...as_text },
    'position': { of: (row) => row + '."position"', notNull: true, ...as_smallint },
  },
  nodeId: (key) => "pg_catalog.replace(pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array('public', 'categories'" + key.map((value) => ', ' + value).join('') + ")), 'base64'), E'\\n', '')",
  computed: {
    __proto__: null,
  },
}
