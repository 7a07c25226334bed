/**
 * The rooms, each with the rooms that it may import. test/layers.js runs these rules (`npm run layers`) and takes its list of
 * rooms from here; ARCHITECTURE.md gives the reasons.
 */
const ROOMS = {
  operations: [],
  platform: ['operations', 'pipelines', 'external-workflows'],
  tools: ['operations'],
  pipelines: ['operations'],
  'external-workflows': ['operations', 'pipelines'],
  workflows: ['operations', 'pipelines', 'tools'],
  activities: ['operations', 'pipelines', 'platform', 'tools', 'activities/runtime', 'worker/steps'],
  // Helpers of authors.
  'activities/runtime': ['operations', 'pipelines', 'platform'],
  engine: ['operations', 'pipelines', 'platform'],
  worker: ['operations', 'pipelines', 'platform', 'activities', 'activities/runtime', 'worker/steps'],
  // The processes of a pipeline's steps, which outlive the worker.
  'worker/steps': ['operations', 'pipelines', 'platform', 'activities/runtime'],
  'mcp-server': ['engine', 'operations', 'platform'],
  stack: ['operations', 'pipelines', 'platform', 'worker/steps'],
  cli: [
    ...['operations', 'pipelines', 'external-workflows', 'platform', 'activities', 'engine', 'stack'],
    ...['worker', 'worker/steps', 'mcp-server'],
  ],
  testing: [
    ...['operations', 'platform', 'activities', 'activities/runtime', 'stack', 'worker', 'worker/steps'],
    ...['mcp-server', 'cli'],
  ],
  // One feature in several execution environments, which mounts.ts names. Its own files hold types and names alone.
  mailbox: ['operations'],
  'mailbox/client': ['mailbox', 'operations', 'platform', 'engine'],
  'mailbox/workflows': ['mailbox', 'operations'],
  'mailbox/tools': ['mailbox', 'mailbox/client', 'operations', 'engine', 'mcp-server'],
  'mailbox/cli': ['cli'],
};
const all = Object.keys(ROOMS);
/** Pattern of a room's files. Those of a room inside aren't its own. */
function filesOf(room) {
  const inside = all
    .filter((other) => other.startsWith(`${room}/`))
    .map((other) => other.slice(room.length + 1));
  return inside.length === 0 ? `^${room}/` : `^${room}/(?!(${inside.join('|')})/)`;
}

const RULES = [
  ...all.map((room) => ({
    name: `${room}-imports`,
    comment: `${room} may import ${ROOMS[room].join(', ') || 'nothing'} of ours`,
    from: { path: filesOf(room) },
    to: {
      path: all.filter((other) => other !== room && !ROOMS[room].includes(other)).map(filesOf),
      // Types of an activity are how a workflow calls it.
      ...(['workflows', 'worker/steps', 'activities/runtime'].includes(room)
        ? { dependencyTypesNot: ['type-only'] }
        : {}),
    },
  })),
  {
    name: 'revisions-are-apart',
    comment: 'a revision may mount any protocol; nothing but the process imports a revision',
    from: { path: '^mcp-server/([^/]+)/' },
    to: { path: '^mcp-server/revision-[^/]+/', pathNot: '^mcp-server/$1/' },
  },
  {
    name: 'protocols-are-apart',
    comment: 'the others mount the plain contract',
    from: { path: '^mcp-server/(sep-1391|two-stage|plain|http-jobs)/' },
    to: {
      path: '^mcp-server/(sep-1391|two-stage|plain|http-jobs)/',
      pathNot: ['^mcp-server/$1/', '^mcp-server/plain/'],
    },
  },
  {
    name: 'mounts-are-for-the-top',
    comment: 'what is mounted may import any room, so that rooms get it as an argument',
    from: { path: '/', pathNot: '^(cli|testing)/' },
    to: { path: '^(mounts|server)[.]ts$' },
  },
  {
    name: 'protocols-are-above',
    from: { path: '^mcp-server/(call|http|json|links|listed-tools|sessions|shutdown)/' },
    to: {
      path: '^mcp-server/(sep-1391|two-stage|plain|http-jobs)/',
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'protocols-know-nothing-of-temporal',
    from: { path: '^(mcp-server/(sep-1391|two-stage|plain|http-jobs|revision-[^/]+)|mailbox/tools)/' },
    to: { path: '@temporalio' },
  },
  {
    name: 'engine-knows-nothing-of-mcp',
    from: {
      path: '^(engine|operations|workflows|activities|worker|mailbox/(client|workflows|cli))/',
    },
    to: { path: '@modelcontextprotocol' },
  },
  {
    name: 'private-doors',
    comment:
      'files that a package of Temporal does not export are imported in two places, each with its reason',
    from: { pathNot: '^(platform/temporal/internal|workflows/runtime/internal)/' },
    to: {
      path: 'node_modules/@temporalio/[^/]+/',
      pathNot: 'node_modules/@temporalio/[^/]+/((lib|protos)/index[.](js|d[.]ts)|package[.]json)$',
    },
  },
  {
    name: 'operations-are-pure',
    comment: "types of Temporal's definitions leave no import behind",
    from: { path: '^operations/' },
    to: {
      path: '@temporalio|hono|duckdb|^(fs|http|net|child_process|node:fs|node:http|node:net)$',
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'mailbox-types-are-pure',
    comment: 'client and workflow sandbox share them',
    from: { path: '^mailbox/[^/]+$' },
    to: { dependencyTypesNot: ['type-only'], path: '@temporalio|node_modules|^(node:)?[a-z]+$' },
  },
  {
    name: 'commands-load-when-run',
    comment: 'help lists commands without loading them',
    from: { path: '^cli/(main|longhaul|command-table)\\.ts$' },
    to: {
      path: '^(cli/commands|mailbox/cli)/|^platform/settings/index\\.ts$|node_modules/(zod|@temporalio|@modelcontextprotocol)/',
      dynamic: false,
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'no-cycles',
    from: {},
    to: { circular: true },
  },
];

module.exports = {
  rooms: all,
  forbidden: RULES.map((rule) => ({ severity: 'error', ...rule })),
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
