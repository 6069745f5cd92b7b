import { childrenOf, factsOf, rootOf, type Explained, type PlanNode } from './plan.ts'

/** Every statement of a request with its parameters and plan. */
export function Plans({ plans }: { readonly plans: readonly Explained[] }) {
  return plans.map(({ paths, statement, parameters, variables, plan }, index) => {
    const root = rootOf(plan)
    return (
      <article key={index}>
        <h3>{paths.map((path) => path.join('.')).join(', ') || 'Statement'}</h3>
        {root !== null && (
          <ul className="plan">
            <PlanItem node={root} />
          </ul>
        )}
        <details>
          <summary>SQL</summary>
          <pre tabIndex={0}>{statement}</pre>
        </details>
        {parameters.length > 0 && (
          <details>
            <summary>
              {parameters.length} {parameters.length === 1 ? 'parameter' : 'parameters'}
            </summary>
            <ol>
              {parameters.map((value, at) => (
                <li key={at}>
                  <code>{value ?? 'null'}</code> {variables[at]}
                </li>
              ))}
            </ol>
          </details>
        )}
      </article>
    )
  })
}

function PlanItem({ node }: { readonly node: PlanNode }) {
  const children = childrenOf(node)
  const { name, path, conditions, cost } = factsOf(node)
  return (
    <li>
      <strong>{name}</strong> {path !== null && <span className="path">{path}</span>}
      <small>{cost}</small>
      {conditions.map((condition) => (
        <small key={condition}>
          <code>{condition}</code>
        </small>
      ))}
      {children.length > 0 && (
        <ul>
          {children.map((child, index) => (
            <PlanItem key={index} node={child} />
          ))}
        </ul>
      )}
    </li>
  )
}
