-- clear-bookmarks.graphql for authenticated, service_role

-- mutation ClearBookmarks
select to_json(case when "public"."clear_bookmarks"()::text is null then null::json else null::json end) as r;
