/** The pages in the order of what readers need, by their files below docs/: TABLE. Titles and lines come from the pages and the README. */
export const sidebar = [
  { title: 'Start', pages: ['start', 'applications', 'your-own-database', 'workflow', 'questions'] },
  { title: 'Model your data', pages: ['api', 'filters', 'relations', 'writes', 'groups', 'shapes', 'additions'] },
  { title: 'Auth and access', pages: ['auth', 'policies'] },
  { title: 'Clients', pages: ['client', 'react', 'clients', 'live', 'artifacts'] },
  { title: 'Deploy', pages: ['places', 'deploy', 'scale', 'topologies', 'capacity'] },
  { title: 'Operate', pages: ['operate', 'runbook', 'events', 'commands', 'dashboard', 'sharing'] },
  { title: 'Move in', pages: ['import'] },
  {
    title: 'Reference',
    pages: [
      'spec/graphql',
      'spec/auth',
      'exactness',
      'benchmarks',
      'engine',
      'architecture',
      'dependencies',
      'requests',
      'words',
    ],
  },
]
