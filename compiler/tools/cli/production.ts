/**
 * Loaded before all else: unless NODE_ENV says production when graphql-js is loaded, it looks twice at every value that it is
 * given, which made translating a known document a half dearer. Whoever wants that sets NODE_ENV.
 */
process.env['NODE_ENV'] ??= 'production'
