import { switchedOn } from '../../comments/additions.ts'
import type { Key } from '../../comments/keys.ts'

export const keys = [
  {
    key: 'explain',
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} answers requests that ask with their statements and plans; for development only.',
  },
] as const satisfies readonly Key[]
