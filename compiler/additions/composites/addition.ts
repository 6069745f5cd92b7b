import { switchedOn } from '../../comments/additions.ts'
import { keyAddition } from '../addition.ts'
import { buildComposites, compositeValue } from './facts.ts'

/** Values of composite types as objects (spec/graphql.md 17). */
export const composites = keyAddition(
  'composites',
  {
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} serves columns and results of composite types as objects, and filters by their attributes.',
    namesComposites: true,
  },
  {
    typeFacts: buildComposites,
    values: { value: compositeValue },
  },
)
