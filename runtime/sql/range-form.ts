import type { ScalarName } from '../contract/scalar-names.ts'
import { infix, type Form, type FormOperator } from './form.ts'

/** Ranges (`rangeFilters`) and networks (`networkFilters`). */

const ofRange = (symbol: string, help: string): FormOperator => ({ help, takes: 'Opaque', render: infix(symbol) })

/** Ranges and multiranges: operands are written like the column's values in Postgres. */
export const rangeForm = (scalar: ScalarName, cast: string): Form => ({
  subject: 'a range, or several of them in one value',
  usual: ['eq', 'in', 'is', 'neq'],
  scalar: 'Opaque',
  own: {
    contains: ofRange('@>', 'Contains all of this.'),
    containsValue: { help: 'Contains this value.', takes: scalar, cast, render: infix('@>') },
    containedBy: ofRange('<@', 'Lies within this.'),
    overlaps: ofRange('&&', 'Has a value in common with this.'),
    adjacent: ofRange('-|-', 'Touches this, with nothing between them and nothing in common.'),
    strictlyLeft: ofRange('<<', 'Ends before this begins.'),
    strictlyRight: ofRange('>>', 'Begins after this ends.'),
    notRight: ofRange('&<', 'Does not reach beyond the end of this.'),
    notLeft: ofRange('&>', 'Does not reach back beyond the beginning of this.'),
    isEmpty: {
      help: 'Contains no value, or contains some.',
      takes: 'Boolean',
      cast: 'bool',
      render: (value, operand) => `pg_catalog.isempty(${value}) = ${operand}`,
    },
  },
})

const ofNetwork = (symbol: string, help: string): FormOperator => ({
  help,
  takes: 'Opaque',
  cast: 'inet',
  render: infix(symbol),
})

export const networkForm: Form = {
  subject: 'an address or a network',
  usual: ['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq'],
  scalar: 'Opaque',
  readAs: 'inet',
  own: {
    contains: ofNetwork('>>', 'Contains this network or address, and more.'),
    containsOrEq: ofNetwork('>>=', 'Contains this network or address, or is it.'),
    containedBy: ofNetwork('<<', 'Lies within this network, and is not all of it.'),
    containedByOrEq: ofNetwork('<<=', 'Lies within this network, or is it.'),
    overlaps: ofNetwork('&&', 'One of both contains the other, or is it.'),
    family: {
      help: 'Is of this family: 4 or 6.',
      takes: 'Int',
      cast: 'int4',
      render: (value, operand) => `pg_catalog.family(${value}) = ${operand}`,
    },
  },
}
