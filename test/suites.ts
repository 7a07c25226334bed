/**
 * Suites of tests, and the rooms of the source that each exercises through processes. `npm run test:changed` runs a suite when a path
 * that it covers has changed. Imports count by themselves, and so do the suite's own files.
 */

/** Programs that are built or installed before the tests, alone, because compilers take all cores. */
export type Need = 'postgres' | 'go' | 'java' | 'python';

export interface Suite {
  name: string;
  /** Path prefixes of its test files. A file belongs to the row with the longest prefix. */
  tests: string[];
  holds: string;
  /** Path prefixes of what it exercises without importing it, beyond SHARED. */
  covers: string[];
  needs?: Need[];
  /** Its clients are programs whose text doesn't say which protocol they speak. */
  foreign?: true;
  /** Runs after the others, because its own tests are processes on all cores. */
  alone?: true;
}

/** A change of these runs everything. */
export const EVERYTHING = [
  ...[
    'package.json',
    'package-lock.json',
    'tsconfig',
    'jest.config.js',
    'clean-dist.js',
    'build-program.js',
    '.nvmrc',
  ],
  ...['operations/', 'test/support/', 'test/global-', 'test/no-temporal.js'],
  ...['test/runner/', 'test/reporter.js', 'test/spread-long-files.js'],
];

/** Exercised by every test file that starts processes. */
export const SHARED = [
  ...['engine/', 'platform/', 'workflows/runtime/', 'activities/runtime/', 'index.ts', 'worker/index.ts'],
  ...['logs/', 'process/', 'replay/', 'versions/'].map((room) => `worker/${room}`),
  ...[
    'audit/',
    'auth/',
    'call/',
    'http/',
    'json/',
    'limits/',
    'links/',
    'listed-tools/',
    'metrics/',
    'revisions/',
    'sdk-internal/',
    'sessions/',
    'shutdown/',
  ].map((room) => `mcp-server/${room}`),
  ...['mcp-server/guard.ts', 'mcp-server/http.ts', 'mcp-server/index.ts', 'mcp-server/mount.ts'],
  ...['mcp-server/revision-2026-07-28/', 'mcp-server/rpc-refusals.ts', 'mounts.ts', 'server.ts'],
  ...['test/fixtures/project/', 'longhaul.config.json'],
  ...['main', 'longhaul', 'command-table', 'lazy-commands', 'settings-flags', 'failure'].map(
    (file) => `cli/${file}.ts`,
  ),
  ...['cli/client/argv.ts', 'cli/commands/processes/server.ts', 'cli/commands/processes/worker.ts'],
];

/** Like Markdown, these touch only the rows that name them. A changed path that is in no list and no row runs everything. */
export const NEUTRAL = [
  ...['docs/', 'bench/', '.github/', '.ci/', 'LICENSE', 'Dockerfile', 'dev.js', 'eslint.config.js'],
  ...['.dependency-cruiser.cjs', '.dockerignore', '.editorconfig', '.gitignore', '.npmrc', '.prettier'],
  ...['test/last-full-run.json', 'test/suites.ts', 'test/proof.ts', 'test/layers.js', 'test/words.js'],
];

const OLD_REVISION = 'mcp-server/revision-2025-11-25/';
const PLAIN = 'mcp-server/plain/';
const TOKENS = 'mcp-server/sep-1391/';
const TWO_STAGE = 'mcp-server/two-stage/';
const JOBS = 'mcp-server/http-jobs/';
const PROTOCOLS = [OLD_REVISION, PLAIN, TOKENS, TWO_STAGE, JOBS];

/**
 * Text by which a test file shows that it speaks a protocol: in a suite that covers several, a change of one protocol's room runs these
 * files. Calls of the plain contract are in too many files to be chosen by it.
 */
export const PROTOCOL_USE: readonly { room: string; uses: RegExp }[] = [
  {
    room: OLD_REVISION,
    uses: /LegacyClient|2025-(11-25|06-18|03-26)|@modelcontextprotocol\/sdk|support\/protocols/,
  },
  { room: TOKENS, uses: /asyncTools|tools\/async|support\/protocols/ },
  { room: TWO_STAGE, uses: /twoStage|poll_result|support\/protocols/ },
  { room: JOBS, uses: /\/v1\/|JobsClient|support\/protocols/ },
];
const STDIO = ['mcp-server/stdio.ts', 'cli/commands/processes/stdio.ts'];
const PIPELINES = ['pipelines/', 'activities/pipeline/', 'worker/steps/', 'workflows/pipeline/'];
const QUEUES = ['workflows/queue/'];
const DATASETS = ['tools/analyze_dataset/', 'workflows/analyze_dataset.ts', 'activities/analyze_dataset/'];
const EXTERNAL = ['external-workflows/', 'workflows/nexus.ts'];
const MAILBOX = ['mailbox/'];
const STACK = ['stack/', 'cli/'];

/** A suite in the folder of its name. */
const folder = (
  name: string,
  holds: string,
  covers: string[],
  more: Pick<Suite, 'needs' | 'alone' | 'foreign'> = {},
): Suite => ({ name, tests: [`test/${name}/`], holds, covers, ...more });

export const SUITES: Suite[] = [
  folder('analyze_dataset', 'the shipped tool: formats, types, queries, files, hostile data', DATASETS),
  folder('auth', 'keys, tokens, gateways, roles, isolation, signing, TLS, proxies, limits, audit', [
    ...[...PROTOCOLS, ...STDIO, ...MAILBOX, ...STACK, ...PIPELINES],
  ]),
  folder('authoring', 'tools of a project: definitions, helpers, reload, checks, long histories', [
    'cli/',
    'stack/',
    'testing/',
    'docs/writing-a-tool.md',
    PLAIN,
    ...PIPELINES,
  ]),
  {
    name: 'package',
    tests: ['test/authoring/package'],
    holds: 'the files of the package, and its use outside of a clone',
    covers: ['cli/', 'testing/', 'examples/', 'docs/', 'deploy/', ...PIPELINES],
  },
  folder(
    'chaos',
    'kills, stops, network faults, clocks and full disks under load',
    [...[...PROTOCOLS, ...STDIO, ...STACK, ...PIPELINES, ...QUEUES, 'bench/beside-fastmcp/']],
    { foreign: true },
  ),
  folder('children', 'child workflows as parts: progress, questions, cancel', [PLAIN, 'cli/', ...EXTERNAL]),
  folder('cli', 'the command line as a process', [
    'cli/',
    'stack/',
    'docs/cli.md',
    PLAIN,
    JOBS,
    ...PIPELINES,
  ]),
  folder('clients', 'official SDK clients, tasks of 2025-11-25, links to resources', [
    ...[OLD_REVISION, PLAIN, ...STDIO, ...STACK, ...DATASETS],
  ]),
  folder('conformance', 'the official conformance suite', [OLD_REVISION, PLAIN, ...PIPELINES]),
  folder(
    'contract',
    'the runtime contract: its schemas, and `longhaul conformance` over workers in three languages',
    [
      'cli/conformance/',
      'cli/commands/authors/conformance.ts',
      'docs/runtime-contract/',
      'examples/runtime-contract/',
    ],
    { needs: ['go', 'python'] },
  ),
  folder('deadline', 'the maximum duration: without workers, beside questions, budget of cleanups', [PLAIN]),
  folder('deploy', '`longhaul deploy status`, stranded operations, the commands of docs/upgrade.md', [
    ...['cli/doctor/', 'cli/commands/', 'stack/', 'docs/upgrade.md'],
  ]),
  folder(
    'docs',
    "the command blocks of README.md and of operators' and authors' pages, run as a reader does",
    [...['README.md', 'docs/', 'longhaul.config.json', 'cli/', PLAIN, ...STACK, ...PIPELINES, ...DATASETS]],
  ),
  folder('engine', 'operations through a server: tokens, watches, lists, answers, operators, costs', [
    ...[...PROTOCOLS, ...STACK, ...PIPELINES, ...QUEUES, ...MAILBOX, 'docs/cost.md', 'docs/scale.md'],
  ]),
  folder('estimates', 'estimates from past runs', [PLAIN, 'cli/', ...PIPELINES, ...DATASETS]),
  folder(
    'examples',
    'the projects of `examples/`: their own tests, and the approvals of one by role',
    ['examples/', 'testing/', ...PROTOCOLS, ...STDIO, ...STACK, ...PIPELINES, ...QUEUES, ...MAILBOX],
    { alone: true, foreign: true },
  ),
  folder(
    'external-workflows',
    'tools over workflows of others: the file, odd workers, Go, Java and Python, adopted runs, Nexus, drafts',
    [
      ...EXTERNAL,
      'examples/bring-your-own/',
      'docs/bring-your-own.md',
      ...PROTOCOLS,
      ...STDIO,
      'cli/',
      'stack/',
    ],
    { needs: ['go', 'java', 'python'] },
  ),
  folder('fair', 'queues of tools: limits, turns, places, refusals, kills; priorities', [
    ...[...QUEUES, JOBS, PLAIN, ...PIPELINES],
  ]),
  folder(
    'foreign-clients',
    'clients by other makers, also logging in by OAuth',
    [...[OLD_REVISION, PLAIN, TOKENS, TWO_STAGE, ...STDIO, ...STACK, ...DATASETS, 'docs/clients.md']],
    { foreign: true },
  ),
  folder(
    'fuzz',
    'mutated requests over every protocol',
    [...[...PROTOCOLS, ...STDIO, ...STACK, ...PIPELINES, ...MAILBOX]],
    { foreign: true },
  ),
  folder('histories', 'kept histories of each tag replay; every workflow brought to its ends, and recorded', [
    ...[
      'workflows/',
      'cli/replay/',
      ...PIPELINES,
      ...QUEUES,
      ...MAILBOX,
      ...EXTERNAL,
      ...DATASETS,
      PLAIN,
      JOBS,
    ],
  ]),
  folder(
    'hostile',
    'attacks on a stack by a shell and curl alone, for any build: approvals, answers, schemas',
    [...[JOBS, PLAIN, OLD_REVISION, ...STDIO, ...PIPELINES, ...STACK]],
  ),
  folder('hosts', 'pipelines on several hosts: lost, partitioned and returning hosts; cancel', [
    ...[...PIPELINES, ...STACK, PLAIN, JOBS],
  ]),
  folder('http', 'HTTP and standard input under every protocol: negotiation, hostile JSON, cursors', [
    ...[...PROTOCOLS, ...STDIO],
  ]),
  folder('http-jobs', 'the jobs API, its OpenAPI document, schemathesis', [
    ...[
      JOBS,
      PLAIN,
      OLD_REVISION,
      'cli/',
      ...PIPELINES,
      ...DATASETS,
      'docs/http-jobs.md',
      'examples/pipelines/',
    ],
  ]),
  folder('idempotency', 'idempotency keys on every protocol', [...PROTOCOLS, ...STDIO, ...PIPELINES, 'cli/']),
  folder('logs', 'logs of operations', [PLAIN, JOBS, 'cli/', ...PIPELINES]),
  folder('mailbox', "the agents' mailbox", [...MAILBOX, PLAIN, OLD_REVISION, ...STDIO, ...STACK, ...QUEUES]),
  folder('metrics', "metrics, alert rules, the dashboard's queries; health of server and worker", [
    ...[...PROTOCOLS, ...STDIO, ...STACK, 'deploy/', 'docs/metrics.md'],
  ]),
  folder('model', 'random sequences of calls over all protocols, against a model of the record', [
    ...[...PROTOCOLS, ...STDIO, ...PIPELINES],
  ]),
  folder('node-versions', 'the package on other versions of Node.js', [
    ...[...STACK, ...PIPELINES, PLAIN, 'docs/writing-a-tool.md'],
  ]),
  folder(
    'operate',
    'the topology with nginx, PostgreSQL and S3, killed part by part; Compose file and Kubernetes manifests',
    ['deploy/', 'docker-compose.temporal.yml', 'Dockerfile', ...PROTOCOLS, ...STDIO, ...STACK, ...PIPELINES],
    { needs: ['postgres'] },
  ),
  folder('operation-tools', 'tools about operations: get, list, cancel, resume, delete', [
    ...[PLAIN, JOBS, TWO_STAGE, OLD_REVISION, 'cli/', ...PIPELINES],
  ]),
  folder('operations', 'the wire between engine and workflows; large states and values', [
    ...[PLAIN, JOBS, OLD_REVISION],
  ]),
  folder('patterns', 'regular expressions of callers, in linear time', [PLAIN, ...DATASETS]),
  folder('pipelines', 'the language, steps, logs, artifacts, resume, reset, steps without their worker', [
    ...[...PIPELINES, ...QUEUES, ...STACK, PLAIN, JOBS, ...STDIO],
    ...['docs/pipelines', 'examples/pipelines/', TOKENS, TWO_STAGE, OLD_REVISION],
  ]),
  folder('plain', 'the plain contract, and its tokens in the context of a model', [
    ...[PLAIN, JOBS, ...STDIO, ...STACK, ...PIPELINES, 'examples/pipelines/'],
  ]),
  folder('progress', 'progress that never decreases', [PLAIN, ...STACK]),
  folder('proxy', 'two servers behind a proxy; connections close', [PLAIN, OLD_REVISION]),
  folder('repository', 'the repository itself: documents, commands, words, the runner of the tests', [
    ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'test/README.md'],
    ...['worker/steps/launcher/launcher.sh', 'worker/steps/launcher/relay.sh', 'test/hostile/run.sh'],
    ...['docs/', '.ci/', '.github/', '.dependency-cruiser.cjs', 'dev.js', 'eslint.config.js'],
    ...['test/words.js', 'test/layers.js', 'test/suites.ts', 'test/proof.ts', ...STACK],
  ]),
  folder('revision-2025-11-25', 'sessions, streams, tasks and questions of the older revisions', [
    ...[OLD_REVISION, PLAIN, ...STDIO, ...STACK],
  ]),
  folder('revision-2026-07-28', 'tasks of the current revision, and what it refuses', [PLAIN]),
  folder('schemas', 'schemas of tools: as listed, for clients and generators; odd, random and hostile ones', [
    ...[...PROTOCOLS, 'cli/', ...PIPELINES, ...MAILBOX, ...DATASETS, 'examples/pipelines/'],
  ]),
  folder('sep-1391', 'operation tokens', [
    TOKENS,
    OLD_REVISION,
    PLAIN,
    TWO_STAGE,
    ...STDIO,
    ...STACK,
    'docs/sep-1391.md',
    'docs/two-stage.md',
  ]),
  folder('shutdown', 'graceful shutdown over HTTP and stdio; drains of workers', [
    ...[PLAIN, OLD_REVISION, TWO_STAGE, JOBS, ...STDIO, ...STACK, ...PIPELINES],
  ]),
  folder('stack', "Temporal's binary and database, supervisor, full disk, unusable homes, backup", [
    ...[...STACK, ...STDIO, PLAIN, JOBS, OLD_REVISION, ...PIPELINES, ...DATASETS, ...MAILBOX],
  ]),
  {
    name: 'program',
    tests: ['test/stack/program'],
    holds: 'how the program names itself, in its messages and in the documents',
    covers: [...STACK, 'README.md', 'docs/', 'examples/', 'bench/'],
  },
  folder(
    'storage',
    'storage in a folder and in S3: keys, sweeps, the contract, copies, an S3 server that is down or slow',
    [...[...STACK, PLAIN, JOBS, ...PIPELINES, 'test/fixtures/storage-project/']],
  ),
  folder('subscriptions', 'subscriptions of 2026-07-28', [
    PLAIN,
    OLD_REVISION,
    ...STDIO,
    ...STACK,
    ...DATASETS,
  ]),
  folder('temporal', 'Temporal as it fails: kills, outages, limits, old versions, clocks, credentials', [
    ...[...PROTOCOLS, ...STACK, ...MAILBOX],
  ]),
  folder('testing', '`longhaul/testing`: uses and wrong uses', [
    'testing/',
    ...STACK,
    ...PIPELINES,
    PLAIN,
    JOBS,
  ]),
  folder('traces', "traces over OTLP from a request to a step's process; no texts of clients in logs", [
    ...[...PROTOCOLS, ...STDIO, ...STACK, ...PIPELINES, 'deploy/otel/'],
  ]),
  folder('two-stage', 'two-stage returns', [
    TWO_STAGE,
    TOKENS,
    PLAIN,
    JOBS,
    OLD_REVISION,
    ...STDIO,
    ...STACK,
    'docs/two-stage.md',
  ]),
  folder('versioning', 'code of workflows: edits, releases side by side, rollback, old Temporals', [
    ...[PLAIN, JOBS, ...STACK, ...PIPELINES, ...MAILBOX],
  ]),
  folder('worker', "code that blocks or ends its worker, and settings of Temporal's Worker", [PLAIN]),
];

/** Files on Temporal's production server, in a run of their own (test/temporal-postgres). */
export const ON_POSTGRES = {
  name: 'core on PostgreSQL',
  covers: ['engine/', 'platform/', 'test/temporal-postgres/'],
  needs: ['postgres'] satisfies Need[] as Need[],
};
