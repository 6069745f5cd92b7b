import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'
import './facts.ts'

/** Inputs that say that they take exactly one member (spec/graphql.md 17). */
export const oneOf = { name: 'oneOf', keys, marks: ['oneOf'], switches: ['oneOf'] } satisfies Addition
