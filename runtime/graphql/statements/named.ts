import type { PreparedText } from '../../contract/execution.ts'
import { sha256Hex } from '../../lib/text.ts'

/** The role is part of the name: a plan under row-level security belongs to its role. */
export const named = <Text extends string>(role: string, text: Text): PreparedText<Text> => ({
  name: `cg${sha256Hex(`${role}\0${text}`).slice(0, 32)}`,
  text,
})
