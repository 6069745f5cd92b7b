/** The roles of drawn worlds. */
export const roles = ['anon', 'authenticated'] as const
