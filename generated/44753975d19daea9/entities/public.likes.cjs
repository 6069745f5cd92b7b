/** SQL builders of "public"."likes". Compiled from the database: change that, not this file. */

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
const as_uuid = values('uuid', 'text', '::uuid', '::uuid[]', (value) => value)
const as_timestamp_with_time_zone = values('timestamp with time zone', 'text', '::timestamp with time zone', '::timestamp with time zone[]', (value) => value)

module.exports = {
  relation: '"public"."likes"',
  columns: {
    __proto__: null,
    'post_id': { of: (row) => row + '."post_id"', notNull: true, ...as_integer },
    'user_id': { of: (row) => row + '."user_id"', notNull: true, ...as_uuid },
    'created_at': { of: (row) => row + '."created_at"', notNull: true, ...as_timestamp_with_time_zone },
  },
  nodeId: (key) => "pg_catalog.replace(pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array('public', 'likes'" + key.map((value) => ', ' + value).join('') + ")), 'base64'), E'\\n', '')",
  computed: {
    __proto__: null,
  },
}
