import type { ColumnFacts } from './manifest.ts'
import type { ScalarName } from './scalar-names.ts'
import type { NamePart } from './name-parts.ts'

/** Figures of the columns of a group (spec/graphql.md 17.2): their result, HAVING and ORDER types. */
export const groupFigures = {
  sum: { result: 'sum', order: 'sumOrder', having: 'havingSum', help: 'The sum of the values, nulls left out.' },
  avg: { result: 'avg', order: 'avgOrder', having: 'havingAvg', help: 'The mean of the values, nulls left out.' },
  min: { result: 'min', order: 'minOrder', having: 'havingMin', help: 'The smallest value, nulls left out.' },
  max: { result: 'max', order: 'maxOrder', having: 'havingMax', help: 'The largest value, nulls left out.' },
  countDistinct: {
    result: 'countDistinct',
    order: 'countDistinctOrder',
    having: 'havingCountDistinct',
    help: 'How many different values there are, nulls left out.',
  },
  every: {
    result: 'flags',
    order: 'flagOrder',
    having: 'havingFlag',
    help: 'Whether all of the values are true, nulls left out.',
  },
  some: {
    result: 'flags',
    order: 'flagOrder',
    having: 'havingFlag',
    help: 'Whether any of the values is true, nulls left out.',
  },
} as const satisfies Readonly<Record<string, Figure>>

interface Figure {
  readonly result: NamePart
  readonly order: NamePart
  readonly having: NamePart
  readonly help: string
}

export type GroupFigure = keyof typeof groupFigures

export const groupFigureNames = Object.keys(groupFigures) as readonly GroupFigure[]

/** The type that a figure of a column is declared as; null: the column has no such figure. */
export function figureType({ aggregate, order, type }: ColumnFacts, name: GroupFigure): ScalarName | null {
  switch (name) {
    case 'sum':
    case 'avg':
    case 'min':
    case 'max':
      return aggregate[name]
    case 'countDistinct':
      return order ? 'Int' : null
    case 'every':
    case 'some':
      return type?.kind === 'scalar' && type.name === 'Boolean' && !type.list ? 'Boolean' : null
  }
}
