import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { geoTypes } from '../../../runtime/engine/schema/scalars.ts'

export const geo: SchemaAddition = { name: 'geo', types: geoTypes }
