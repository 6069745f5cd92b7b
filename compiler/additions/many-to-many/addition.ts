import { withDiagnostics } from '../../catalog/diagnostics/diagnostics.ts'
import { tableSwitch } from '../../comments/additions.ts'
import type { Addition } from '../addition.ts'
import { crossings } from './facts.ts'

/** Relations between rows that another row connects (spec/graphql.md 17.7). */
export const manyToMany = {
  name: 'manyToMany',
  keys: [
    tableSwitch('manyToMany', 'lets rows that it connects lead to each other, with what it says of both on the edge'),
  ],
  crosses: true,
  relations: (named, scope) => withDiagnostics(crossings(named, scope)),
} satisfies Addition
