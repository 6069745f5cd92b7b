/** SQL builders of "public"."users". Compiled from the database: change that, not this file. */

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
const as_character_varying = values('character varying', 'text', '::character varying', '::character varying[]', (value) => value)
const as_text = values('text', 'text', '::text', '::text[]', (value) => value)
const as_boolean = values('boolean', 'text', '::boolean', '::boolean[]', (value) => value)
const as_timestamp_with_time_zone = values('timestamp with time zone', 'text', '::timestamp with time zone', '::timestamp with time zone[]', (value) => value)

module.exports = {
  relation: '"public"."users"',
  columns: {
    __proto__: null,
    'id': { of: (row) => row + '."id"', notNull: true, ...as_uuid },
    'username': { of: (row) => row + '."username"', notNull: true, ...as_character_varying },
    'first_name': { of: (row) => row + '."first_name"', notNull: true, ...as_text },
    'last_name': { of: (row) => row + '."last_name"', notNull: true, ...as_text },
    'email': { of: (row) => row + '."email"', notNull: true, ...as_text },
    'bio': { of: (row) => row + '."bio"', notNull: false, ...as_text },
    'website': { of: (row) => row + '."website"', notNull: false, ...as_text },
    'is_staff': { of: (row) => row + '."is_staff"', notNull: true, ...as_boolean },
    'joined_at': { of: (row) => row + '."joined_at"', notNull: true, ...as_timestamp_with_time_zone },
  },
  nodeId: (key) => "pg_catalog.replace(pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array('public', 'users'" + key.map((value) => ', ' + value).join('') + ")), 'base64'), E'\\n', '')",
  computed: {
    __proto__: null,
    '["public","full_name"]': { of: (row) => '"public"."full_name"(' + row + ')', json: (value) => value },
  },
}
