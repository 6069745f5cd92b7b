-- introspection.graphql for anon

-- query Introspection
-- asks the database for nothing
