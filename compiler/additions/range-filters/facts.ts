import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'
import { infix, type Form } from '../../../runtime/sql/form.ts'

/** Ranges and multiranges: operands are written like the column's values in Postgres. */
const rangeForm = (name: string, scalar: ScalarName, cast: string, ...pgTypes: readonly string[]): Form => ({
  name,
  keys: ['rangeFilters'],
  pgTypes,
  types: [`${scalar}RangeFilter`],
  subject: 'a range, or several of them in one value',
  usual: ['eq', 'in', 'is', 'neq'],
  scalar: 'Opaque',
  own: {
    contains: infix('@>', 'Contains all of this.', 'Opaque'),
    containsValue: infix('@>', 'Contains this value.', scalar, cast),
    containedBy: infix('<@', 'Lies within this.', 'Opaque'),
    overlaps: infix('&&', 'Has a value in common with this.', 'Opaque'),
    adjacent: infix('-|-', 'Touches this, with nothing between them and nothing in common.', 'Opaque'),
    strictlyLeft: infix('<<', 'Ends before this begins.', 'Opaque'),
    strictlyRight: infix('>>', 'Begins after this ends.', 'Opaque'),
    notRight: infix('&<', 'Does not reach beyond the end of this.', 'Opaque'),
    notLeft: infix('&>', 'Does not reach back beyond the beginning of this.', 'Opaque'),
    isEmpty: {
      help: 'Contains no value, or contains some.',
      takes: 'Boolean',
      cast: 'bool',
      render: (value, operand) => `pg_catalog.isempty(${value}) = ${operand}`,
    },
  },
})

export const rangeForms = [
  rangeForm('int4Range', 'Int', 'int4', 'int4range', 'int4multirange'),
  rangeForm('int8Range', 'BigInt', 'int8', 'int8range', 'int8multirange'),
  rangeForm('numericRange', 'BigFloat', 'numeric', 'numrange', 'nummultirange'),
  rangeForm('dateRange', 'Date', 'date', 'daterange', 'datemultirange'),
  rangeForm('timestampRange', 'Datetime', 'timestamp', 'tsrange', 'tsmultirange'),
  rangeForm('timestamptzRange', 'Datetime', 'timestamptz', 'tstzrange', 'tstzmultirange'),
] as const
