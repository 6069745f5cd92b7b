/** Quantified conditions on elements of a list (`arrayFilters`). */
export const elementQuantifiers = {
  some: 'At least one element meets these conditions; with no condition, there is at least one.',
  every: 'All elements meet these conditions, also where there are none.',
  none: 'No element meets these conditions; with no condition, there are none at all.',
} as const

export type ElementQuantifier = keyof typeof elementQuantifiers

export const isQuantifier = (name: string): name is ElementQuantifier => Object.hasOwn(elementQuantifiers, name)
