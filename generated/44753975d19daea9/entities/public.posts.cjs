/** SQL builders of "public"."posts". Compiled from the database: change that, not this file. */

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
const as_text = values('text', 'text', '::text', '::text[]', (value) => value)
const as_public_post_status = values('public.post_status', 'text', '::public.post_status', '::public.post_status[]', (value) => 'case (' + value + ")::text when 'draft' then 'DRAFT' when 'in review' then 'IN_REVIEW' when 'published' then 'PUBLISHED' when 'archived' then 'ARCHIVED' else (" + value + ')::text end')
const as_text_array = values('text[]', 'text[]', '::text[]', '::text[][]', (value) => value, (value) => 'pg_catalog.to_jsonb(' + value + ')')
const as_jsonb = values('jsonb', 'text', '::jsonb', '::jsonb[]', (value) => '((' + value + ") #>> '{}')", (value) => 'pg_catalog.to_jsonb(' + value + ')')
const as_bigint = values('bigint', 'text', '::bigint', '::bigint[]', (value) => '(' + value + ')::text')
const as_numeric = values('numeric', 'text', '::numeric', '::numeric[]', (value) => '(' + value + ')::text')
const as_timestamp_with_time_zone = values('timestamp with time zone', 'text', '::timestamp with time zone', '::timestamp with time zone[]', (value) => value)

module.exports = {
  relation: '"public"."posts"',
  columns: {
    __proto__: null,
    'id': { of: (row) => row + '."id"', notNull: true, ...as_integer },
    'author_id': { of: (row) => row + '."author_id"', notNull: true, ...as_uuid },
    'editor_id': { of: (row) => row + '."editor_id"', notNull: false, ...as_uuid },
    'category_id': { of: (row) => row + '."category_id"', notNull: false, ...as_integer },
    'slug': { of: (row) => row + '."slug"', notNull: true, ...as_text },
    'title': { of: (row) => row + '."title"', notNull: true, ...as_text },
    'body': { of: (row) => row + '."body"', notNull: true, ...as_text },
    'status': { of: (row) => row + '."status"', notNull: true, ...as_public_post_status },
    'keywords': { of: (row) => row + '."keywords"', notNull: true, ...as_text_array },
    'metadata': { of: (row) => row + '."metadata"', notNull: true, ...as_jsonb },
    'word_count': { of: (row) => row + '."word_count"', notNull: true, ...as_integer },
    'view_count': { of: (row) => row + '."view_count"', notNull: true, ...as_bigint },
    'rating': { of: (row) => row + '."rating"', notNull: false, ...as_numeric },
    'published_at': { of: (row) => row + '."published_at"', notNull: false, ...as_timestamp_with_time_zone },
    'created_at': { of: (row) => row + '."created_at"', notNull: true, ...as_timestamp_with_time_zone },
    'updated_at': { of: (row) => row + '."updated_at"', notNull: true, ...as_timestamp_with_time_zone },
  },
  nodeId: (key) => "pg_catalog.replace(pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array('public', 'posts'" + key.map((value) => ', ' + value).join('') + ")), 'base64'), E'\\n', '')",
  computed: {
    __proto__: null,
    '["public","comment_count"]': { of: (row) => '"public"."comment_count"(' + row + ')', json: (value) => value },
    '["public","excerpt"]': { of: (row) => '"public"."excerpt"(' + row + ')', json: (value) => value },
    '["public","related_posts"]': { of: (row) => '"public"."related_posts"(' + row + ')', json: (value) => value },
  },
}
