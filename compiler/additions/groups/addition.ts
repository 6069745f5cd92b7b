import { tableAddition, type Addition } from '../addition.ts'
import { parts, typeNames } from './facts.ts'

/** Counts and figures of rows by values of fields (spec/graphql.md 17.2). */
export const groups = {
  ...tableAddition('groups', 'gives its collection groups: counts and figures by values of fields'),
  parts,
  typeNames,
  marks: ['groups'],
  joins: ['groups'],
} satisfies Addition
