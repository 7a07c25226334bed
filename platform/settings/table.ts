/** All settings. Types, flags, variables, help, JSON Schema and docs/settings.md come from this table, which loads nothing else. */
import { isIP } from 'node:net';
import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import { parseAddress } from './health-address.js';
import {
  bucketIn,
  cachedWorkflows,
  duration,
  integer,
  isBareUrl,
  list,
  number,
  oneOf,
  path,
  pathSeparated,
  text,
  urlOrPath,
  yesOrNo,
  type SettingType,
} from './types.js';

/** Headings of the settings, in order. */
export const GROUPS = {
  basics: 'Basics',
  server: 'Server',
  temporal: 'Temporal',
  worker: 'Worker',
  storage: 'Storage',
  callers: 'Callers',
  limits: 'Limits',
  records: 'Logs, metrics and audit',
} as const;
export type Group = keyof typeof GROUPS;

/** Inputs of defaults. */
export interface Context {
  /** Values of the settings above in the table. */
  values: Record<string, unknown>;
  environment: NodeJS.ProcessEnv;
  /** Folder of the configuration file, else the working folder. */
  folder: string;
  /** Whether the environment names a Temporal, which replaces the embedded one. */
  isExternal: boolean;
}

interface Default<T> {
  of: (context: Context) => T;
  /** As docs and help show it. */
  text: string;
}

export interface Row<T> {
  group: Group;
  type: SettingType<T>;
  default: Default<T>;
  doc: string;
  /** Fixed value under `longhaul up`, which overrides any other. */
  underUp?: T;
}

const is = <const T>(value: T): Default<T> => ({ of: () => value, text: shown(value) });
const by = <T>(of: (context: Context) => T, shownAs: string): Default<T> => ({ of, text: shownAs });
const none = (shownAs = 'none'): Default<undefined> => ({ of: () => undefined, text: shownAs });
const noneOf = <T>(): Default<T[]> => ({ of: () => [], text: 'none' });

function shown(value: unknown): string {
  return typeof value === 'number' ? value.toLocaleString('en') : String(value);
}

/** Makes rows of a group. A row whose default is undefined makes the setting optional. */
function rowOf(group: Group) {
  return <T>(
    type: SettingType<T>,
    fallback: Default<T>,
    doc: string,
    more: Pick<Row<T>, 'underUp'> = {},
  ): Row<T> => ({ group, type, default: fallback, doc, ...more });
}

const basics = rowOf('basics');
const server = rowOf('server');
const temporal = rowOf('temporal');
const worker = rowOf('worker');
const storage = rowOf('storage');
const callers = rowOf('callers');
const limits = rowOf('limits');
const records = rowOf('records');

const projectOf = ({ values }: Context) => values['project'] as string;
/** A default for the embedded Temporal, and another one for a named Temporal. */
const onTemporal = (embedded: number, named: number) =>
  by(
    ({ isExternal }) => (isExternal ? named : embedded),
    `${shown(embedded)}, or ${shown(named)} on a Temporal of your own`,
  );
/** A default for authenticated callers, who need protection from each other, and one for a lone caller. */
const forCallers = (many: number, alone: number) =>
  by(
    ({ values }) => ((values['authentication'] as unknown[]).length > 0 ? many : alone),
    `${shown(many)}, or ${shown(alone)} without authentication`,
  );

const port = integer(1, 65_535);
const count = integer(1, 1_000_000);

export const SETTINGS = {
  home: basics(
    path('<folder>'),
    by(() => join(homedir(), '.longhaul'), '~/.longhaul'),
    'Folder of the stack and its data.',
  ),
  project: basics(
    path('<folder>'),
    by(({ folder }) => folder, 'the folder of `longhaul.config.*`'),
    'Project with your own `tools/`, `workflows/`, `activities/` and `pipelines/`. Its configuration file is used.',
  ),
  pipelineFolders: basics(
    pathSeparated('<folders>', path('<folder>')),
    by((context) => [join(projectOf(context), 'pipelines')], "the project's `pipelines/`"),
    'Folders with pipelines, `*.yml` and `*.yaml`.',
  ),
  dataFolders: basics(
    pathSeparated('<folders>', path('<folder>')),
    by((context) => [projectOf(context)], 'the project'),
    'Folders whose files tools may read; not the home, nor other private paths in them.',
  ),
  shippedTools: basics(yesOrNo, is(true), 'Serve the tools that ship with Longhaul.'),
  mailbox: basics(yesOrNo, is(false), 'Serve the tools with which agents wait for messages.'),
  resourceLinks: basics(
    oneOf('auto', 'always', 'never'),
    is('auto'),
    'Whether results have `resource_link` blocks. `auto`: for clients known to accept them; others get the addresses as text.',
  ),

  host: server(text('<address>'), is('127.0.0.1'), 'Address that the server listens on.'),
  port: server(port, is(7411), 'Port of the server.'),
  allowedHosts: server(
    pathSeparated('<names>', text('<name>')),
    noneOf<string>(),
    'Host names, beside loopback, that the server accepts in requests.',
  ),
  corsOrigins: server(
    list(
      '<origins>',
      text('<origin>', isOrigin, 'an origin, such as https://app.example.com, without a path'),
    ),
    noneOf<string>(),
    'Origins whose pages may call the HTTP jobs API.',
  ),
  trustedProxies: server(
    list(
      '<networks>',
      text('<network>', isNetwork, 'addresses or networks, such as 10.0.0.0/8, separated by commas'),
    ),
    noneOf<string>(),
    'Proxies whose `Forwarded` and `X-Forwarded-` headers count, as addresses or CIDR.',
  ),
  tlsCert: server(
    path('<file>'),
    none('none: plain HTTP'),
    "Server's certificate as PEM, with its intermediates: the server then speaks HTTPS only.",
  ),
  tlsKey: server(path('<file>'), none(), 'Key of `tlsCert` as PEM, without a passphrase.'),
  tlsClientCa: server(
    path('<file>'),
    none(),
    'Authorities of client certificates as PEM, for the authentication `mtls`.',
  ),
  healthAddress: server(
    text(
      '<host:port>',
      (value) => parseAddress(value) !== undefined,
      'a host and a port, such as 127.0.0.1:9464 or [::]:9464',
    ),
    none(),
    'Address of `/healthz`, `/readyz` and `/metrics`, without authentication. Under `longhaul up` the worker has the next port.',
  ),

  temporalPort: temporal(port, none('7233, or the next free one'), 'Port of the embedded Temporal.'),
  temporalUi: temporal(
    text(
      '<url|on|off>',
      (value) => value === 'on' || value === 'off' || isBareUrl(value),
      "'on', 'off', or the http or https URL of Temporal's UI without credentials, query and fragment",
    ),
    none('`on` on Linux, else `off`'),
    "Address of Temporal's UI, to which failed operations link. `on`: the embedded Temporal's UI, linked unless callers need authentication. `off`: no UI, no links.",
  ),
  binFolder: temporal(
    path('<folder>'),
    by(() => join(homedir(), '.longhaul', 'bin'), '~/.longhaul/bin, whatever the home'),
    'Folder that keeps the Temporal binary.',
  ),
  taskQueue: temporal(
    text('<name>', /^.{1,200}$/s, 'a name of 1 to 200 characters'),
    is('longhaul'),
    'Task queue that workers poll and operations start on.',
  ),
  searchAttributes: temporal(
    oneOf('auto', 'create', 'off'),
    is('auto'),
    "Temporal's search attributes, by which lists find operations. `auto`: used if the namespace has them. `create`: created as the server connects. `off`: lists are off.",
  ),
  heartbeatSeconds: temporal(
    number(1, 60),
    onTemporal(1, 15),
    "Interval of activities' heartbeats, at most 80 % of their time-out. Progress and cancellation travel with heartbeats; each is a billed action on Temporal Cloud.",
  ),
  visibilityCallsPerSecond: temporal(
    integer(1, 1_000),
    onTemporal(1_000, 10),
    "A server's calls to Temporal's visibility store in a second: first lists, then sessions that listen, then estimates.",
  ),
  maxHistoryPolls: temporal(
    integer(1, 100_000),
    is(500),
    'Histories that a server long-polls at a time. Further watched operations are described in turn.',
  ),
  payloadCodec: temporal(
    urlOrPath('<module|url>'),
    none(),
    'Payload codec of external workflows: a module with a PayloadCodec as its default export, or the URL of a codec server.',
  ),
  unsignedStarts: temporal(
    oneOf('refuse', 'allow'),
    is('refuse'),
    "Activities of workflows that no server has started and `longhaul sign` hasn't signed for.",
  ),
  operatorAnswers: temporal(
    yesOrNo,
    is(true),
    "Accept answers by Temporal's own commands, to questions without approvers and four eyes.",
  ),

  workerRole: worker(
    oneOf('all', 'workflows', 'host'),
    is('all'),
    'Work that the worker takes. `workflows`: workflows and activities of tools. `host`: jobs of pipelines, on this host.',
    { underUp: 'all' },
  ),
  maxSteps: worker(
    integer(1, 1_000),
    by(() => availableParallelism(), "the worker's cores"),
    'Pipeline steps that the worker runs at once.',
  ),
  stepEnvironment: worker(
    pathSeparated('<names>', text('<name>')),
    noneOf<string>(),
    "Worker's variables that steps get beside the usual ones.",
  ),
  stepsEndWithWorker: worker(
    yesOrNo,
    is(false),
    'End steps with their worker, also after `kill -9`. Otherwise the next worker of the host takes them over.',
  ),
  hostAbsenceMinutes: worker(
    number(2, 10_080),
    is(5),
    'Minutes without a poll from any worker of a host after which its jobs count as lost: idempotent jobs start again elsewhere; people are asked about the others.',
  ),
  drainTimeout: worker(
    duration('24h'),
    by(() => 5 * 60_000, '5m; always 5s under `longhaul up`'),
    'Time for running activities of tools to end when the worker is asked to stop. They are then cancelled, and run again on another worker.',
    { underUp: 5_000 },
  ),
  workerVersioning: worker(
    yesOrNo,
    by(() => true, 'true; always false under `longhaul up`'),
    "Run workers as versions of a Temporal Worker Deployment, so that an operation ends with the workflows' code that it began with. `TEMPORAL_DEPLOYMENT_NAME` and `TEMPORAL_WORKER_BUILD_ID` name the version, if set.",
    { underUp: false },
  ),
  maxCachedWorkflows: worker(
    cachedWorkflows,
    is(300),
    'Open workflows that the worker keeps in memory, or the memory for them, such as `200MB`, at 0.3 MB each.',
  ),
  maxConcurrentActivityTaskExecutions: worker(
    integer(1, 10_000),
    none('100'),
    'Slots for activities of tools.',
  ),
  targetCpuUsage: worker(
    number(0.01, 1),
    none(),
    "CPU usage, from 0 to 1, above which the worker takes no further task: Temporal's resource-based tuner, with `targetMemoryUsage`.",
  ),
  targetMemoryUsage: worker(number(0.01, 1), none(), 'Memory usage, from 0 to 1: see `targetCpuUsage`.'),
  maxTaskQueueActivitiesPerSecond: worker(
    number(0.01, 100_000),
    none(),
    'Activities of tools that all workers together start in a second. Give all workers the same value.',
  ),
  stickyQueueScheduleToStartTimeoutSeconds: worker(
    number(1, 60),
    onTemporal(2, 10),
    'Seconds before open workflows of a killed worker continue on another one.',
  ),

  storage: storage(
    text(
      '<folder|url>',
      (value) => value === 'folder' || bucketIn(value) !== undefined,
      '"folder", or the bucket of S3 as s3://bucket or s3://bucket/prefix',
    ),
    is('folder'),
    'Where artifacts, logs and large values are stored: `folder` in the home, or `s3://bucket/prefix`. All servers and workers need the same.',
  ),
  storageEndpoint: storage(
    text(
      '<url>',
      (value) => isBareUrl(value) && new URL(value).pathname === '/',
      'the URL of a store, such as https://minio.example.com:9000, without a path',
    ),
    none('AWS'),
    'URL of an S3-compatible store. The bucket is in the path of its URLs.',
  ),
  storageRegion: storage(
    text('<name>', /^[a-z0-9-]{1,40}$/, 'the name of a region, such as eu-central-1'),
    by(regionOf, "the AWS SDK's; `us-east-1` with an endpoint"),
    'Region of the bucket.',
  ),
  storageEncryption: storage(
    text(
      '<AES256|aws:kms|aws:kms=key>',
      /^(AES256|aws:kms(=\S+)?)$/,
      'AES256, aws:kms, or aws:kms=KEY with the ID or ARN of a key',
    ),
    none("the bucket's own"),
    'Server-side encryption that each write asks for.',
  ),

  authentication: callers(
    list('<keys|tokens|mtls>', oneOf('keys', 'tokens', 'mtls')),
    noneOf<'keys' | 'tokens' | 'mtls'>(),
    'How callers say who they are; several may be named. Without it, all callers are one, and the server listens on loopback only.',
  ),
  allowUnauthenticated: callers(
    yesOrNo,
    is(false),
    'Listen on other addresses than loopback without authentication.',
  ),
  keysFolder: callers(
    path('<folder>'),
    by(({ values }) => join(values['home'] as string, 'keys'), "'keys' in the home"),
    'Folder of the API keys, which `longhaul keys` writes.',
  ),
  policy: callers(
    path('<file>'),
    none(),
    'File with the roles of callers. Without it, each may do everything with operations of its own.',
  ),
  tokenSources: callers(
    path('<file>'),
    none(),
    'File with the issuers of tokens: OAuth authorization servers, and gateways in front. Needed for `tokens`.',
  ),

  kickoffsPerMinute: limits(
    count,
    forCallers(600, 60_000),
    'Operations that a caller may start in a minute, for each server process.',
  ),
  statusPerMinute: limits(
    count,
    forCallers(6_000, 600_000),
    'Requests over HTTP that a caller may make in a minute, for each server process.',
  ),
  maxOpenRequests: limits(
    count,
    forCallers(1_000, 20_000),
    'Requests, waits and streams that a caller may have open, for each server process.',
  ),
  maxConnectionsPerAddress: limits(
    count,
    forCallers(2_000, 20_000),
    "Connections from one address that isn't a trusted proxy's.",
  ),
  maxOpenOperations: limits(count, none(), 'Operations that a caller may have open, on all servers.'),

  logLevel: records(
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
    is('info'),
    'Least severe level that is logged.',
  ),
  metrics: records(
    yesOrNo,
    by(({ values }) => values['healthAddress'] !== undefined, 'true with a health address, else false'),
    "Keep metrics, and serve them as `/metrics`: on the health address, and on the server's own port only without authentication.",
  ),
  auditLog: records(path('<folder>'), none(), 'Folder of the audit log: who did what.'),
  auditRequired: records(yesOrNo, is(false), "Refuse changes that the audit log can't record."),
};

type Table = typeof SETTINGS;
/** Name of a setting in `longhaul.config.*`. */
export type SettingName = keyof Table;

type ValueOf<R> = R extends Row<infer T> ? T : never;

/** Every setting, resolved: paths are absolute, and durations have their unit in their name. */
export type Settings = {
  [Name in SettingName as Name extends 'drainTimeout' ? 'drainTimeoutMs' : Name]: ValueOf<Table[Name]>;
};

/** A value in a configuration file: itself, or text as in a variable. */
type Written<T> = T extends string ? T : T | string;

/** Default export of a `longhaul.config.*` file. */
export type LonghaulConfig = {
  [Name in SettingName]?: Table[Name] extends Row<infer T> ? Written<T> : never;
};

function regionOf({ values, environment }: Context): string | undefined {
  const hasRegion = environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'];
  // A store with its own address has no regions, but requests need one.
  return values['storageEndpoint'] !== undefined && !hasRegion ? 'us-east-1' : undefined;
}

function isNetwork(value: string): boolean {
  const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(value) ?? [];
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
  return bits > 0 && (prefix === undefined || Number(prefix) <= bits);
}

function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}
