import { switchedOn } from '../../comments/additions.ts'
import type { Key } from '../../comments/keys.ts'

export const keys = [
  {
    key: 'schemaReport',
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} answers requests that ask with what is in the API and why not; for development only.',
  },
] as const satisfies readonly Key[]
