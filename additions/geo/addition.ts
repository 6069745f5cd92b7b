import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Types of PostGIS as GeoJSON (spec/graphql.md 17). */
export const geo = { name: 'geo', keys } satisfies Addition
