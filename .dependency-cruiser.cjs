/**
 * The rooms, each with the rooms that it may import. test/layers.js runs these rules (`npm run layers`) and takes its list of
 * rooms from here; ARCHITECTURE.md gives the reasons.
 */
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
  rooms: all,
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
      name: 'revisions-are-apart',
      severity: 'error',
      comment: 'a revision may mount any protocol; nothing but the process imports a revision',
      from: { path: '^mcp-server/([^/]+)/' },
      to: { path: '^mcp-server/revision-[^/]+/', pathNot: '^mcp-server/$1/' },
    },
    {
      name: 'protocols-are-apart',
      severity: 'error',
      comment: 'the mailbox answers by the plain contract',
      from: { path: '^mcp-server/(sep-1391|two-stage|plain|http-jobs|mailbox)/' },
      to: {
        path: '^mcp-server/(sep-1391|two-stage|plain|http-jobs|mailbox)/',
        pathNot: ['^mcp-server/$1/', '^mcp-server/plain/', '^mcp-server/mailbox/index\\.ts$'],
      },
    },
    {
      name: 'shared-is-below-protocols',
      severity: 'error',
      from: { path: '^mcp-server/(shared|lifecycle)/' },
      to: {
        path: '^mcp-server/(sep-1391|two-stage|plain|http-jobs|mailbox)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'protocols-know-nothing-of-temporal',
      severity: 'error',
      from: { path: '^mcp-server/(sep-1391|two-stage|plain|http-jobs|mailbox|revision-[^/]+)/' },
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
      to: { circular: true },
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
