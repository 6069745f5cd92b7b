import type { Key } from '../../comments/keys.ts'
import type { Addition } from '../addition.ts'
import { reason, reasons } from './decode.ts'
import './facts.ts'

const keys = [
  {
    key: 'deprecated',
    on: ['relation', 'column', 'function'],
    decode: reason,
    isFact: true,
    help: 'a string: why its fields are deprecated, and what to use instead.',
  },
  {
    key: 'deprecated',
    on: ['enum'],
    decode: reasons,
    isFact: true,
    help: 'an object from labels to strings: why their values are deprecated, and what to use instead.',
  },
] as const satisfies readonly Key[]

/** Reasons why fields and values are deprecated (spec/graphql.md 17.5). */
export const deprecated = { name: 'deprecated', keys, marks: ['deprecated'] } satisfies Addition
