import { dataOf } from './answers.ts'
import type { TestService } from './service.ts'

/**
 * Asks which rows a filter finds: the ids of those that a test wrote out, below 100. More rows may be there for the sake of an index.
 * @param service the one to ask, once it runs
 * @param collection a root field
 */
export const rowsFound =
  (service: () => Pick<TestService, 'graphql'>, collection: string) =>
  /** @param head the declarations of the condition's variables, in parentheses */
  async (condition: string, variables: Record<string, unknown> = {}, head = ''): Promise<readonly number[]> => {
    const filter = `{and: [{id: {lt: 100}}, ${condition}]}`
    const document = `query Q${head} { rows: ${collection}(filter: ${filter}) { edges { node { id } } } }`
    const { rows } = dataOf(await service().graphql(document, { variables }))
    return rows.edges.map(({ node }: { readonly node: { readonly id: number } }) => node.id)
  }
