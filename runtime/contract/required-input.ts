/**
 * A mark on required fields of an insert's input. Their types are nullable all the same (spec/graphql.md 10.1), so the
 * mark is an extension of the schema's object, for code generation only.
 */

const mark = 'catalographRequired'

/** The extensions object of such a field. */
export const requiredInput: Readonly<Record<string, true>> = { [mark]: true }

export const isRequiredInput = ({ extensions }: { readonly extensions: Readonly<Record<string, unknown>> }): boolean =>
  extensions[mark] === true
