import { keyAddition } from '../addition.ts'
import { presets } from './decode.ts'

/** Columns that are set to an expression of the caller (spec/graphql.md 17.5). */
export const preset = keyAddition('preset', {
  on: ['relation'],
  decode: presets,
  isAccess: true,
  help:
    '{"role": {"column": "expression"}}, or {"insert": "...", "update": "..."} in its place: columns that the inputs ' +
    'of the role lack and that are set to this, as the caller; "public" is everybody.',
})
