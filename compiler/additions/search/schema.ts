import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { searchQuery, searchRank } from '../../../runtime/engine/schema/search-types.ts'
import { searchForms } from './facts.ts'

const inputs = [searchQuery, searchRank]

export const search: SchemaAddition = { name: 'search', forms: searchForms.map((form) => ({ ...form, inputs })) }
