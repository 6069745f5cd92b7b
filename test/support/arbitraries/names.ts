/** Names that hurt; plain ones first. */
export const tableNames = [
  'item',
  'person',
  'blog_post',
  'note',
  'BlogPost',
  'Item',
  'select',
  '_under',
  'my table',
  'quo"te',
  'naïve',
  'Über',
  'x1',
  'order',
  'back\\slash',
  'dollar$1',
  'Query',
  'Int',
  "it's",
  '1st',
  'user',
  '__dunder',
  'constructor',
  'a'.repeat(63),
  'tbl;--',
  'Node',
] as const

export const columnNames = [
  'name',
  'size',
  'created_at',
  'kind',
  'Name',
  'createdAt',
  'select',
  '_x',
  'a b',
  'q"uote',
  'é',
  'and',
  'or',
  'not',
  'first',
  'filter',
  'x1',
  '1st',
  'desc',
  "it's",
  '__double',
  'constructor',
  'toString',
  '__proto__',
  'edges',
  'cursor',
  'b\\s',
  'hasOwnProperty',
  'ctid2',
  'r',
  't1',
  'c1',
] as const

/** Overrides by comment; the last ones are no GraphQL names and take the thing out of the API. */
export const typeOverrides = ['Thing', 'thing', 'Entry', 'lower_case', 'X', 'not valid', '__Hidden'] as const
export const fieldOverrides = [
  'label',
  'other',
  'Upper',
  'not',
  'toString',
  'x_y',
  'valueOf',
  'not valid',
  '__hidden',
] as const
export const relationOverrides = ['parentOf', 'children', 'name', 'linked', 'not valid'] as const

/** Columns of foreign keys, by how their relations are named after them. */
export const linkNames = ['parentId', 'parent_id', 'ownerId', 'owner_id', 'ref', 'Id', '_id', 'link Id'] as const

export const functionNames = [
  'add_up',
  '_hidden',
  '__twice',
  'Shout',
  'itemCollection',
  'same name',
  'node',
  'full_name',
  'pick',
  'it"s',
  'x1',
  'id',
] as const
export const argumentNames = ['a', 'the_value', '_b', 'Value', 'first', 'select', 'a b', 'toString'] as const
