/**
 * Loaded first: unless NODE_ENV is production when graphql-js is loaded, graphql-js checks every value twice, which
 * slows translating a known document down by half. To have these checks, set NODE_ENV.
 */
process.env['NODE_ENV'] ??= 'production'
