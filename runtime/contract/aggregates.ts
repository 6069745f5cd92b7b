/** Figures of columns (spec/graphql.md 6): their result types. */
export const figures = {
  sum: { result: 'sum', help: 'The sum of the values, nulls left out.' },
  avg: { result: 'avg', help: 'The mean of the values, nulls left out.' },
  min: { result: 'min', help: 'The smallest value, nulls left out.' },
  max: { result: 'max', help: 'The largest value, nulls left out.' },
} as const
