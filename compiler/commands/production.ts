/**
 * Loaded before all else: unless NODE_ENV is production when graphql-js is loaded, graphql-js checks every value twice,
 * which makes translating a known document one and a half times as slow. To have these checks, set NODE_ENV.
 */
process.env['NODE_ENV'] ??= 'production'
