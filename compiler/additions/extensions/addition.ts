import { unlessDisabled } from '../../comments/additions.ts'
import { keyAddition } from '../addition.ts'

/** Schemas without the objects of extensions (spec/graphql.md 17). */
export const extensions = keyAddition('extensions', {
  on: ['schema'],
  decode: unlessDisabled,
  hidesExtensions: false,
  help: '{"enabled": false} takes out what extensions brought: their tables, views and functions.',
})
