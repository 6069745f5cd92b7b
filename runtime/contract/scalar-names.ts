/**
 * The scalars of the API. To add one, add its name; the type checker then asks for its row in runtime/sql/scalars.ts,
 * its GraphQL type, its TypeScript type and, in a test, its rules in the reference interpreter.
 */
export const scalarNames = [
  'ID',
  'Int',
  'Float',
  'String',
  'Boolean',
  'Date',
  'Time',
  'Datetime',
  'BigInt',
  'UUID',
  'JSON',
  'Cursor',
  'BigFloat',
  'Opaque',
  'GeoJSON',
] as const

export type ScalarName = (typeof scalarNames)[number]
