/** Marks required fields of inserts, whose types are nullable (spec/graphql.md 10.1), for code generation. */

const mark = 'catalographRequired'

/** The extensions object of such a field. */
export const requiredInput: Readonly<Record<string, true>> = { [mark]: true }

export const isRequiredInput = ({ extensions }: { readonly extensions: Readonly<Record<string, unknown>> }): boolean =>
  extensions[mark] === true
