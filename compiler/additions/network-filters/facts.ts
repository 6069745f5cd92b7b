import { infix, type Form } from '../../../runtime/sql/form.ts'

export const networkForm: Form = {
  name: 'network',
  keys: ['networkFilters'],
  pgTypes: ['inet', 'cidr'],
  types: ['NetworkFilter'],
  subject: 'an address or a network',
  usual: ['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq'],
  scalar: 'Opaque',
  readAs: 'inet',
  own: {
    contains: infix('>>', 'Contains this network or address, and more.', 'Opaque', 'inet'),
    containsOrEq: infix('>>=', 'Contains this network or address, or is it.', 'Opaque', 'inet'),
    containedBy: infix('<<', 'Lies within this network, and is not all of it.', 'Opaque', 'inet'),
    containedByOrEq: infix('<<=', 'Lies within this network, or is it.', 'Opaque', 'inet'),
    overlaps: infix('&&', 'One of both contains the other, or is it.', 'Opaque', 'inet'),
    family: {
      help: 'Is of this family: 4 or 6.',
      takes: 'Int',
      cast: 'int4',
      render: (value, operand) => `pg_catalog.family(${value}) = ${operand}`,
    },
  },
}
