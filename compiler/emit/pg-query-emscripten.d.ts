/** The used part of pg-query-emscripten 5.1, which has no types. Instances are made by awaiting the constructor. */
declare module 'pg-query-emscripten/pg_query_wasm.js' {
  export interface ParseResult {
    readonly parse_tree?: { readonly stmts?: readonly unknown[] }
    readonly error?: { readonly message: string; readonly cursorpos: number } | null
  }

  export interface PlpgsqlResult {
    readonly plpgsql_funcs?: readonly unknown[]
    readonly error?: { readonly message: string } | null
  }

  export interface PgQuery {
    readonly parse: (sql: string) => ParseResult
    readonly parsePlpgsql: (sql: string) => PlpgsqlResult
  }

  const makePgQuery: new () => Promise<PgQuery>
  export default makePgQuery
}
