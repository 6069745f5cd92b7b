-- introspection.graphql for authenticated

-- query Introspection
-- asks the database for nothing
