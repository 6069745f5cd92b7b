import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'
import { liveSettings } from './facts.ts'

/** Queries that are answered again when their answer changes (spec/graphql.md 16). */
export const live = {
  name: 'live',
  keys,
  liveSettings,
} satisfies Addition
