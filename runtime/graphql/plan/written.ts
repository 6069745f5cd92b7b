import type { EntityFacts } from '../../contract/manifest.ts'
import { planMembers, type Planner, type SelectedField } from './planner.ts'
import type { ResponseMember } from './plan-nodes.ts'

/** The answer of a change about its rows (spec/graphql.md 10.1). */
export const planResponse = (planner: Planner, entity: EntityFacts, response: SelectedField) =>
  planMembers<ResponseMember>(planner, response, {
    affectedCount: ({ key }) => ({ kind: 'affectedCount', key }),
    records: (selected) => ({ kind: 'records', key: selected.key, row: planner.row(planner, entity, selected) }),
  })
