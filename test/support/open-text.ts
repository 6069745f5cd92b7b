import type { OpenText } from '../../runtime/contract/execution.ts'

/** SQL that a test wrote as a select list without FROM. */
export const openText = (text: string): OpenText => text as OpenText
