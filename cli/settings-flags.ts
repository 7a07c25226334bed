/** Settings as flags of every command, before or after its name. */
import type { Command } from 'commander';
import type { SettingName, Settings } from '../platform/config.js';
import { settingFlag } from '../platform/setting-flag.js';

const FLAGS: Record<SettingName, [value: string, description: string]> = {
  home: ['<folder>', "data of the embedded stack (default: '~/.longhaul')"],
  storage: [
    '<folder|url>',
    'where files, logs and large values are stored: folder (in the home), or s3://bucket/prefix (default: folder)',
  ],
  storageEndpoint: ['<url>', 'S3-compatible store (default: AWS)'],
  storageRegion: ['<name>', "region of the bucket (default: the AWS SDK's)"],
  storagePathStyle: ['<true|false>', 'bucket in the path of URLs (default: true with an endpoint)'],
  storageEncryption: [
    '<AES256|aws:kms|aws:kms=key>',
    "server-side encryption to ask for (default: the bucket's own)",
  ],
  host: ['<address>', 'address that the server listens on (default: 127.0.0.1)'],
  port: ['<number>', 'port of the server (default: 7411)'],
  temporalPort: ['<number>', 'port of the embedded Temporal (default: 7233 or the next free one)'],
  temporalUi: [
    '<url|on|off>',
    "address of Temporal's UI, to which failed operations link, or whether to run the embedded one's (default: on on Linux, else off)",
  ],
  taskQueue: ['<name>', "task queue of operations (default: 'longhaul')"],
  searchAttributes: ['<auto|create|off>', "use Temporal's search attributes for lists (default: auto)"],
  binFolder: ['<folder>', "where the Temporal binary is kept (default: '~/.longhaul/bin')"],
  project: ['<folder>', 'project with your own tools (default: the folder of longhaul.config.*)'],
  shippedTools: ['<true|false>', 'serve the tools that ship with Longhaul (default: true)'],
  mailbox: ['<true|false>', 'serve the tools with which agents wait for messages (default: false)'],
  resourceLinks: ['<auto|always|never>', 'links in results, or addresses as text (default: auto, by client)'],
  dataFolders: ['<folders>', 'folders whose files tools may read, separated by the path separator'],
  pipelineFolders: ['<folders>', "folders with pipelines (default: the project's 'pipelines')"],
  maxSteps: ['<number>', 'steps of pipelines that the worker runs at once (default: its cores)'],
  workerRole: [
    '<all|workflows|host>',
    'work that the worker takes: workflows with activities of tools, jobs of pipelines, or both (default: all)',
  ],
  maxCachedWorkflows: [
    '<number|memory>',
    'open workflows that the worker keeps in memory, or memory for them such as 200MB (default: 300)',
  ],
  maxConcurrentWorkflowTaskExecutions: ['<number>', "worker's slots for workflow tasks (default: 40)"],
  maxConcurrentActivityTaskExecutions: ['<number>', "worker's slots for activities of tools (default: 100)"],
  maxConcurrentLocalActivityExecutions: ['<number>', "worker's slots for local activities (default: 100)"],
  targetCpuUsage: [
    '<0 to 1>',
    'CPU usage above which the worker takes no further task; with a target of memory (default: none)',
  ],
  targetMemoryUsage: [
    '<0 to 1>',
    'memory usage above which the worker takes no further task; with a target of CPU (default: none)',
  ],
  workflowTaskPollerBehavior: ['<number|autoscaling>', "worker's polls for workflow tasks (default: 10)"],
  activityTaskPollerBehavior: ['<number|autoscaling>', "worker's polls for activities (default: 10)"],
  maxActivitiesPerSecond: ['<number>', 'rate of activities on each worker (default: none)'],
  maxTaskQueueActivitiesPerSecond: ['<number>', 'rate of activities on all workers together (default: none)'],
  stickyQueueScheduleToStartTimeoutSeconds: [
    '<number>',
    "wait of a killed worker's open workflows (default: 2, or 10 on a named Temporal)",
  ],
  workerVersioning: [
    '<true|false>',
    "run workers as versions of a Temporal Worker Deployment: operations end with the workflows' code that they began with (default: true; always false under up)",
  ],
  drainTimeout: [
    '<time>',
    'time for running activities to end when a worker is asked to stop, such as 90s (default: 5m; always 5s under up)',
  ],
  heartbeatSeconds: [
    '<number>',
    "interval of activities' heartbeats (default: 1, or 15 on a named Temporal)",
  ],
  visibilityCallsPerSecond: [
    '<number>',
    "server's calls to visibility in a second (default: 1000, or 10 on a named Temporal)",
  ],
  maxHistoryPolls: ['<number>', 'histories that the server long-polls at a time (default: 500)'],
  payloadCodec: [
    '<module|url>',
    'payload codec of external workflows: a module, or the URL of a codec server (default: none)',
  ],
  hostAbsenceMinutes: [
    '<number>',
    'absence of a host after which its jobs move or ask, in minutes (default: 5)',
  ],
  stepsEndWithWorker: [
    '<true|false>',
    'end steps of pipelines with their worker, also after kill -9; its drain waits for them (default: false)',
  ],
  stepEnvironment: ['<names>', "worker's variables that steps get too, separated by the path separator"],
  authentication: [
    '<keys|oauth|gateway|mtls>',
    'how callers say who they are, separated by commas (default: none)',
  ],
  allowUnauthenticated: [
    '<true|false>',
    'serve other addresses than loopback without authentication (default: false)',
  ],
  keysFolder: ['<folder>', "folder of the API keys (default: 'keys' in the home)"],
  policy: ['<file>', 'file with the roles of callers (default: none)'],
  oauthIssuer: ['<url>', 'issuer of OAuth access tokens'],
  oauthResource: ['<url>', "public URL of the server's MCP endpoint, the audience of access tokens"],
  oauthScope: ['<scope>', 'scope that each access token needs (default: none)'],
  oauthTenantClaim: ['<claim>', 'claim of access tokens that names the tenant (default: none)'],
  oauthSubjectClaim: ['<claim>', 'claim of access tokens that names the subject (default: sub)'],
  oauthGroupsClaim: ['<claim>', "claim of access tokens that lists the caller's groups (default: groups)"],
  oauthClientId: ['<id>', "server's client ID at the authorization server, to introspect opaque tokens"],
  oauthClientSecretFile: ['<file>', 'file with its secret (or the variable LONGHAUL_OAUTH_CLIENT_SECRET)'],
  oauthIntrospection: [
    '<true|false>',
    'introspect JWTs too, to notice that they were revoked (default: false)',
  ],
  oauthIntrospectionEndpoint: ['<url>', "introspection endpoint (default: of the issuer's metadata)"],
  gatewayHeader: ['<name>', 'header in which a gateway in front sends a JWT about the caller'],
  gatewayJwks: ['<url>', "address of the gateway's keys (JWKS)"],
  gatewayPublicKeyFile: ['<file>', "file with the gateway's public key (PEM), instead of an address"],
  gatewayIssuer: ['<issuer>', "issuer of the gateway's JWTs"],
  gatewayAudience: ['<audience>', "audience of the gateway's JWTs"],
  gatewayTenantClaim: ['<claim>', "claim of the gateway's JWTs that names the tenant (default: none)"],
  gatewaySubjectClaim: ['<claim>', "claim of the gateway's JWTs that names the subject (default: sub)"],
  gatewayGroupsClaim: [
    '<claim>',
    "claim of the gateway's JWTs that lists the caller's groups (default: groups)",
  ],
  tlsCert: ['<file>', "server's certificate as PEM, with its intermediates: serves HTTPS (default: none)"],
  tlsKey: ['<file>', 'key of the certificate as PEM, without a passphrase'],
  tlsClientCa: ['<file>', 'authorities of client certificates as PEM, for the authentication mtls'],
  trustedProxies: [
    '<networks>',
    'proxies whose Forwarded and X-Forwarded- headers count, as addresses or CIDR, separated by commas (default: none)',
  ],
  auditLog: ['<folder>', 'folder of the audit log: who did what (default: none)'],
  auditRequired: ['<true|false>', 'refuse changes that the audit log cannot record (default: false)'],
  unsignedStarts: [
    '<refuse|allow>',
    "activities of workflows that Longhaul didn't start or sign for (default: refuse)",
  ],
  operatorAnswers: [
    '<true|false>',
    "accept answers to ordinary questions by Temporal's own commands (default: true)",
  ],
  allowedHosts: ['<names>', 'further host names of the server, separated by the path separator'],
  corsOrigins: ['<origins>', 'origins that may call the HTTP jobs API from a page, separated by commas'],
  kickoffsPerMinute: [
    '<number>',
    'operations that a caller may start in a minute (default: 600, or 60000 without authentication)',
  ],
  statusPerMinute: [
    '<number>',
    'requests over HTTP that a caller may make in a minute (default: 6000, or 600000 without authentication)',
  ],
  serverKickoffsPerMinute: ['<number>', 'operations that all callers may start in a minute (default: 60000)'],
  serverStatusPerMinute: ['<number>', 'requests over HTTP of all callers in a minute (default: 600000)'],
  maxOpenRequests: [
    '<number>',
    'requests, waits and streams that a caller may have open (default: 1000, or 20000 without authentication)',
  ],
  serverMaxOpenRequests: ['<number>', 'requests, waits and streams of all callers (default: 20000)'],
  maxOpenOperations: ['<number>', 'operations that a caller may have open (default: none)'],
  maxConnections: ['<number>', 'connections to the server (default: 20000)'],
  maxConnectionsPerAddress: [
    '<number>',
    'connections from one address (default: 2000, or 20000 without authentication)',
  ],
  metrics: [
    '<true|false>',
    'keep metrics, and serve them as /metrics (default: true with --health-address, else false)',
  ],
  healthAddress: [
    '<host:port>',
    'address of /healthz, /readyz and /metrics; under up the worker has the next port (default: none)',
  ],
  logLevel: ['<level>', 'trace, debug, info, warn, error or silent (default: info)'],
};

/** Adds the flags to the program. */
export function addSettingsFlags(program: Command): void {
  for (const [name, [value, description]] of Object.entries(FLAGS)) {
    program.option(`${settingFlag(name)} ${value}`, description);
  }
}

/**
 * The settings for a command: its flags, else the environment, else the configuration file.
 *
 * @throws SettingsError
 */
export async function settingsOf(command: Command): Promise<Settings> {
  // Loads the schema of all settings.
  const { loadSettings } = await import('../platform/config.js');
  const given = command.optsWithGlobals<Record<string, unknown>>();
  return loadSettings(Object.fromEntries(Object.keys(FLAGS).map((name) => [name, given[name]])));
}
