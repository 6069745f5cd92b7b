/** SQL builders of "public"."post_tags". Compiled from the database: change that, not this file. */

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

module.exports = {
  relation: '"public"."post_tags"',
  columns: {
    __proto__: null,
    'post_id': { of: (row) => row + '."post_id"', notNull: true, ...as_integer },
    'tag_id': { of: (row) => row + '."tag_id"', notNull: true, ...as_integer },
  },
  nodeId: (key) => "pg_catalog.replace(pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array('public', 'post_tags'" + key.map((value) => ', ' + value).join('') + ")), 'base64'), E'\\n', '')",
  computed: {
    __proto__: null,
  },
}
