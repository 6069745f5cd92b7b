import { tableSwitch } from '../../comments/additions.ts'

export const keys = [
  tableSwitch('oneOf', 'marks its inputs as @oneOf of which exactly one member makes sense, such as those of orders'),
] as const
