/** What each room may import. `npm run layers` also fails when it finds nothing to check. */
const ROOMS = {
  operations: [],
  platform: ['operations', 'pipelines'],
  tools: ['operations'],
  pipelines: ['operations'],
  workflows: ['operations', 'pipelines', 'tools'],
  activities: ['operations', 'pipelines', 'platform', 'tools'],
  engine: ['operations', 'platform'],
  worker: ['operations', 'pipelines', 'platform', 'activities'],
  'mcp-server': ['engine', 'operations', 'platform'],
  stack: ['operations', 'platform'],
  cli: ['operations', 'pipelines', 'platform', 'stack', 'worker', 'mcp-server'],
};
const all = Object.keys(ROOMS);

module.exports = {
  forbidden: [
    ...all.map((room) => ({
      name: `${room}-imports`,
      severity: 'error',
      comment: `${room} may import ${ROOMS[room].join(', ') || 'nothing'} of ours`,
      from: { path: `^${room}/` },
      to: {
        path: `^(${all.filter((other) => other !== room && !ROOMS[room].includes(other)).join('|')})/`,
        // Types of an activity are how a workflow calls it.
        ...(room === 'workflows' ? { dependencyTypesNot: ['type-only'] } : {}),
      },
    })),
    {
      name: 'no-face-imports-another',
      severity: 'error',
      from: { path: '^mcp-server/faces/([^/]+)/' },
      to: { path: '^mcp-server/faces/', pathNot: '^mcp-server/faces/$1/' },
    },
    {
      name: 'eras-are-apart',
      severity: 'error',
      from: { path: '^mcp-server/([^/]+-era)/' },
      to: { path: '^mcp-server/[^/]+-era/', pathNot: '^mcp-server/$1/' },
    },
    {
      name: 'faces-know-nothing-of-temporal',
      severity: 'error',
      from: { path: '^mcp-server/faces/' },
      to: { path: '@temporalio' },
    },
    {
      name: 'engine-knows-nothing-of-mcp',
      severity: 'error',
      from: { path: '^(engine|operations|workflows|activities|worker)/' },
      to: { path: '@modelcontextprotocol' },
    },
    {
      name: 'operations-are-pure',
      severity: 'error',
      from: { path: '^operations/' },
      to: { path: '@temporalio|hono|duckdb|^(fs|http|net|child_process|node:fs|node:http|node:net)$' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
