import type { CallBuilder } from './builder.cjs'
/** SQL builders of root functions. */
declare const functions: {
  readonly '["public","author_count"]': CallBuilder<'minPosts'>
  readonly '["public","clear_bookmarks"]': CallBuilder<never>
  readonly '["public","publish_post"]': CallBuilder<'postId'>
  readonly '["public","search_posts"]': CallBuilder<'search'>
}

export = functions
