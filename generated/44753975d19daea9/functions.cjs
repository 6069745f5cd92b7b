/** SQL builders of root functions. Compiled from the database: change that, not this file. */

module.exports = {
  '["public","author_count"]': {
    name: '"public"."author_count"',
    args: {
      __proto__: null,
      'minPosts': (parameter) => '"min_posts" => ' + parameter + '::integer',
    },
    json: (value) => value,
  },
  '["public","clear_bookmarks"]': {
    name: '"public"."clear_bookmarks"',
    args: {
      __proto__: null,
    },
    json: (value) => value,
  },
  '["public","publish_post"]': {
    name: '"public"."publish_post"',
    args: {
      __proto__: null,
      'postId': (parameter) => '"post_id" => ' + parameter + '::integer',
    },
    json: (value) => value,
  },
  '["public","search_posts"]': {
    name: '"public"."search_posts"',
    args: {
      __proto__: null,
      'search': (parameter) => '"search" => ' + parameter + '::text',
    },
    json: (value) => value,
  },
}
