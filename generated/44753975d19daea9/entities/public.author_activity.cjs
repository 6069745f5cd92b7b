/** SQL builders of "public"."author_activity". Compiled from the database: change that, not this file. */

/** Functions of a type's values; casts follow a text parameter, or one that holds an array. */
const values = (type, recordType, cast, listCast, json, cursor = (value) => value) => ({
  json,
  cursor,
  operand: (parameter) => parameter + cast,
  operands: (parameter) => parameter + listCast,
  recordType,
  fromRecord: (value) => '(' + value + ')::' + type,
})

const as_uuid = values('uuid', 'text', '::uuid', '::uuid[]', (value) => value)
const as_date = values('date', 'text', '::date', '::date[]', (value) => value)
const as_integer = values('integer', 'text', '::integer', '::integer[]', (value) => value)
const as_bigint = values('bigint', 'text', '::bigint', '::bigint[]', (value) => '(' + value + ')::text')
const as_numeric = values('numeric', 'text', '::numeric', '::numeric[]', (value) => '(' + value + ')::text')

module.exports = {
  relation: '"public"."author_activity"',
  columns: {
    __proto__: null,
    'author_id': { of: (row) => row + '."author_id"', notNull: false, ...as_uuid },
    'month': { of: (row) => row + '."month"', notNull: false, ...as_date },
    'post_count': { of: (row) => row + '."post_count"', notNull: false, ...as_integer },
    'word_count': { of: (row) => row + '."word_count"', notNull: false, ...as_integer },
    'view_count': { of: (row) => row + '."view_count"', notNull: false, ...as_bigint },
    'average_rating': { of: (row) => row + '."average_rating"', notNull: false, ...as_numeric },
  },
  nodeId: (key) => "pg_catalog.replace(pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array('public', 'author_activity'" + key.map((value) => ', ' + value).join('') + ")), 'base64'), E'\\n', '')",
  computed: {
    __proto__: null,
  },
}
