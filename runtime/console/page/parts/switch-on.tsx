/** The comment that enables an addition which a schema has off. */
export function SwitchOn({ name }: { readonly name: string }) {
  const sql = `comment on schema public is '@graphql({"${name}": {"enabled": true}})';`
  return (
    <div className="notice">
      <p>
        <strong>
          <code>{name}</code> is off.
        </strong>{' '}
        Switch it on in the comment of the schema, beside what stands there already. It reveals names that callers may
        not read: switch it off before the anon key is published.
      </p>
      <pre tabIndex={0} aria-label="SQL">
        {sql}
      </pre>
    </div>
  )
}
