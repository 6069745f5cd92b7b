-- introspection.graphql for service_role

-- query Introspection
-- asks the database for nothing
