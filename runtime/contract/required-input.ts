/**
 * A mark on fields of an insert's input that the insert fails without. Their types are nullable all the same
 * (spec/graphql.md 10.1), so that it stands among the extensions of the schema's object: only who generates code is told.
 */

const mark = 'catalographRequired'

/** The extensions object of such a field. */
export const requiredInput: Readonly<Record<string, true>> = { [mark]: true }

export const isRequiredInput = ({ extensions }: { readonly extensions: Readonly<Record<string, unknown>> }): boolean =>
  extensions[mark] === true
