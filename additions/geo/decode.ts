import { switchedOn } from '../../compiler/comments/additions.ts'
import type { Key } from '../../compiler/comments/keys.ts'

export const keys = [
  {
    key: 'geo',
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} serves geometry and geography of PostGIS as GeoJSON, with filters by where things are.',
  },
] as const satisfies readonly Key[]

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly geo: (typeof keys)[number]
  }
}
