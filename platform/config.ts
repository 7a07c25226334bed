/**
 * The one place where settings and the environment are read. A setting comes from a flag, else from the
 * environment, else from `longhaul.config.(ts|js|json)`, else from its default.
 */
import { existsSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { auditSettingsShape, resolveAuditSettings, type AuditSettings } from './audit-settings.js';
import { authSettingsShape, resolveAuthSettings, type AuthSettings } from './auth-settings.js';
import { settingFlag } from './setting-flag.js';
import { COMMA, list, port, yesOrNo } from './setting-types.js';
import { signingSettingsShape } from './signing-settings.js';
import { resolveStorageSettings, storageSettingsShape, type StorageSettings } from './storage-settings.js';
import { limitSettingsShape, resolveLimitSettings, type LimitSettings } from './limit-settings.js';
import { metricsSettingsShape, resolveMetricsSettings, type MetricsSettings } from './metrics-settings.js';
import { usesExternalTemporal } from './temporal-address.js';
import { resolvePayloadCodec, temporalSettingsShape, type TemporalSettings } from './temporal-settings.js';
import {
  resolveTransportSettings,
  transportSettingsShape,
  type TransportSettings,
} from './transport-settings.js';
import {
  resolveWorkerSettings,
  workerSettingsConflict,
  workerSettingsShape,
  type WorkerSettings,
} from './worker-settings.js';

/** Lists whose values are separated by commas; others by the path separator. */
const COMMA_SEPARATED: readonly SettingName[] = ['corsOrigins', 'authentication', 'trustedProxies'];

/** Schema of `longhaul.config.*`; every field may also come from its flag or environment variable. */
const fileSchema = z.strictObject({
  /** Folder of the embedded stack's data. Default: `~/.longhaul`. */
  home: z.string().min(1),
  ...storageSettingsShape,
  /** Address that the server listens on. Default: `127.0.0.1`. */
  host: z.string().min(1),
  /** Port of the server. Default: 7411. */
  port,
  ...temporalSettingsShape,
  /** Task queue that workers poll and operations start on. Default: `longhaul`. */
  taskQueue: z.string().min(1).max(200),
  /**
   * Search attributes of operations, by which lists find them. `auto`: used if the namespace has them. `create`: created by
   * the server as it connects, which needs an operator's rights. `off`: neither set nor read; lists are off. Default: `auto`.
   */
  searchAttributes: z.enum(['auto', 'create', 'off']),
  /** Folder that keeps the Temporal binary, shared by every home. Default: `~/.longhaul/bin`. */
  binFolder: z.string().min(1),
  /** Folder that holds the user's own `tools/`, `workflows/` and `activities/`. Default: the config file's. */
  project: z.string().min(1),
  /** Serve the tools that ship with Longhaul. Default: true. */
  shippedTools: yesOrNo,
  /** List the mailbox's tools, with which agents wait for messages. Default: false. */
  mailbox: yesOrNo,
  /**
   * Whether results have `resource_link` blocks. `auto`: for clients known to accept them; others get the addresses as text.
   * Default: `auto`.
   */
  resourceLinks: z.enum(['auto', 'always', 'never']),
  /** Folders whose files `analyze_dataset` may read; not the home, nor other private paths in them. Default: the project folder. */
  dataFolders: list,
  /** Folders with pipelines, `*.yml` and `*.yaml`. Default: the project's `pipelines/`. */
  pipelineFolders: list,
  /** Maximum concurrent pipeline steps per worker. Default: its cores. */
  maxSteps: z.coerce.number().int().min(1).max(1000),
  ...workerSettingsShape,
  ...authSettingsShape,
  ...auditSettingsShape,
  ...signingSettingsShape,
  /**
   * Interval of an activity's heartbeats, in seconds; shorter where 80 % of the activity's heartbeat time-out are less. Progress
   * and cancellation travel with heartbeats, and each is a billed action on Temporal Cloud. Default: 1 with the embedded Temporal,
   * else 15.
   */
  heartbeatSeconds: z.coerce.number().min(1).max(60),
  /**
   * Maximum number of calls that a server process makes to Temporal's visibility store in a second. Lists that callers ask for
   * come first, then sessions that listen, then estimates. Default: 1000 with the embedded Temporal, else 10.
   */
  visibilityCallsPerSecond: z.coerce.number().int().min(1).max(1_000),
  /**
   * Maximum number of histories that a server process long-polls at a time. Further watched operations are described in turn.
   * Default: 500.
   */
  maxHistoryPolls: z.coerce.number().int().min(1).max(100_000),
  /**
   * Minutes without a poll from any worker of a host after which the pipeline jobs on it count as lost: idempotent jobs then
   * start again on another host, and people are asked about the others. Default: 5.
   */
  hostAbsenceMinutes: z.coerce.number().min(2).max(10_080),
  /** Environment variables of the worker that pipeline steps get beside the usual ones. Default: none. */
  stepEnvironment: list,
  /**
   * Whether a worker that ends, also by `kill -9`, takes its pipeline steps along. Default: false; they run on, and the next worker
   * of the host takes them over.
   */
  stepsEndWithWorker: yesOrNo,
  ...transportSettingsShape,
  ...limitSettingsShape,
  ...metricsSettingsShape,
  /** Least severe level that is logged. Default: `info`. */
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
});

/** Name of a setting in `longhaul.config.*`. */
export type SettingName = keyof z.infer<typeof fileSchema>;

/** The environment variable of each setting: `LONGHAUL_TEMPORAL_PORT` for `temporalPort`. */
export const SETTING_VARIABLES = Object.fromEntries(
  Object.keys(fileSchema.shape).map((name) => [
    name,
    `LONGHAUL_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
  ]),
) as Record<SettingName, string>;

/** Default export of a `longhaul.config.*` file. */
export type LonghaulConfig = Partial<z.input<typeof fileSchema>>;

type ResolvedSettings = WorkerSettings &
  AuthSettings &
  TransportSettings &
  LimitSettings &
  AuditSettings &
  StorageSettings &
  MetricsSettings &
  TemporalSettings;

/** Every setting, resolved: paths are absolute, and durations have their unit in their name. */
export type Settings = Omit<z.infer<typeof fileSchema>, 'drainTimeout' | keyof ResolvedSettings> &
  ResolvedSettings;

/** Invalid setting; the message names its source, what was expected and what came. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

/**
 * Reads the settings.
 *
 * @param flags values given on the command line; they take precedence
 * @param environment defaults to `process.env`
 * @param folder base of relative paths in flags and variables; defaults to the working folder. `longhaul.config.*` is looked
 *   for in the project that a flag or the environment names, then here.
 * @throws SettingsError when a value has the wrong form or contradicts another one, or a key isn't known
 */
export async function loadSettings(
  flags: Partial<Record<SettingName, unknown>> = {},
  environment: NodeJS.ProcessEnv = process.env,
  folder: string = process.cwd(),
): Promise<Settings> {
  const path = findConfigFile(flags.project ?? environment[SETTING_VARIABLES.project], folder);
  const file = path === undefined ? undefined : { path, config: await readConfigFile(path) };
  const values: Partial<Record<SettingName, unknown>> = {};
  const inFile = new Set<SettingName>();
  /** Where each value is from, and the value as it was given. */
  const sources: Partial<Record<SettingName, { source: string; raw: unknown }>> = {};
  for (const name of Object.keys(SETTING_VARIABLES) as SettingName[]) {
    const variable = SETTING_VARIABLES[name];
    const [source, raw] =
      flags[name] !== undefined
        ? [settingFlag(name), flags[name]]
        : environment[variable]
          ? [variable, environment[variable]]
          : [`"${name}" in ${file?.path}`, file?.config[name]];
    const isOfFile = flags[name] === undefined && !environment[variable];
    if (raw === undefined) continue;
    const parsed = fileSchema.shape[name].safeParse(raw);
    if (!parsed.success) {
      const expected = parsed.error.issues.map((issue) => issue.message).join('; ');
      throw invalid(source, expected, raw);
    }
    values[name] = parsed.data;
    sources[name] = { source, raw };
    if (isOfFile) inFile.add(name);
  }
  const given = values as Partial<z.infer<typeof fileSchema>>;
  const isExternal = usesExternalTemporal(environment);
  const workerSettings = resolveWorkerSettings(given, isExternal, isSupervised(environment));
  const conflict = workerSettingsConflict(workerSettings);
  if (conflict) {
    const { name, expected, other, otherValue } = conflict;
    const { source, raw } = sources[name]!;
    const beside = otherValue === undefined ? settingFlag(other) : `${otherValue}; ${settingFlag(other)}`;
    throw invalid(source, `expected ${expected} (${beside})`, raw);
  }
  const fileFolder = file ? dirname(file.path) : folder;
  const baseOf = (name: SettingName) => (inFile.has(name) ? fileFolder : folder);
  const project = given.project === undefined ? fileFolder : resolve(baseOf('project'), given.project);
  const home = resolve(baseOf('home'), given.home ?? join(homedir(), '.longhaul'));
  return {
    home,
    ...resolveStorageSettings(given, environment),
    host: given.host ?? '127.0.0.1',
    port: given.port ?? 7411,
    temporalPort: given.temporalPort,
    temporalUi: given.temporalUi,
    payloadCodec: resolvePayloadCodec(given.payloadCodec, baseOf('payloadCodec')),
    taskQueue: given.taskQueue ?? 'longhaul',
    searchAttributes: given.searchAttributes ?? 'auto',
    binFolder: resolve(baseOf('binFolder'), given.binFolder ?? join(homedir(), '.longhaul', 'bin')),
    project,
    shippedTools: given.shippedTools ?? true,
    mailbox: given.mailbox ?? false,
    resourceLinks: given.resourceLinks ?? 'auto',
    dataFolders: (given.dataFolders ?? [project]).map((path) => resolve(baseOf('dataFolders'), path)),
    pipelineFolders: (given.pipelineFolders ?? [join(project, 'pipelines')]).map((path) =>
      resolve(baseOf('pipelineFolders'), path),
    ),
    maxSteps: given.maxSteps ?? availableParallelism(),
    ...workerSettings,
    ...resolveAuthSettings(given, home, (name, path) => resolve(baseOf(name), path)),
    ...resolveAuditSettings(given, (path) => resolve(baseOf('auditLog'), path)),
    unsignedStarts: given.unsignedStarts ?? 'refuse',
    operatorAnswers: given.operatorAnswers ?? true,
    heartbeatSeconds: given.heartbeatSeconds ?? (isExternal ? 15 : 1),
    visibilityCallsPerSecond: given.visibilityCallsPerSecond ?? (isExternal ? 10 : 1_000),
    maxHistoryPolls: given.maxHistoryPolls ?? 500,
    hostAbsenceMinutes: given.hostAbsenceMinutes ?? 5,
    stepEnvironment: given.stepEnvironment ?? [],
    stepsEndWithWorker: given.stepsEndWithWorker ?? false,
    ...resolveTransportSettings(given, (name, path) => resolve(baseOf(name), path)),
    ...resolveLimitSettings(given, (given.authentication ?? []).length > 0),
    ...resolveMetricsSettings(given),
    logLevel: given.logLevel ?? 'info',
  };
}

function invalid(source: string, expected: string, raw: unknown): SettingsError {
  return new SettingsError(`${source}: ${expected}; got ${JSON.stringify(raw)}`);
}

/** Value of a setting in the form in which it is given. */
export function settingValue(settings: Settings, name: SettingName) {
  return name === 'drainTimeout' ? `${settings.drainTimeoutMs / 1_000}s` : settings[name];
}

/** Environment variables that give a child process the same settings. */
export function settingsToEnvironment(settings: Settings): Record<string, string> {
  const entries: [string, string][] = [];
  for (const name of Object.keys(SETTING_VARIABLES) as SettingName[]) {
    const value = settingValue(settings, name);
    if (value === undefined) continue;
    const separator = COMMA_SEPARATED.includes(name) ? COMMA : delimiter;
    // A lone separator is an empty list; an empty variable would count as unset.
    const text = Array.isArray(value) ? value.join(separator) || separator : String(value);
    entries.push([SETTING_VARIABLES[name], text]);
  }
  return Object.fromEntries(entries);
}

/** Value of a pipeline secret: the worker's variable LONGHAUL_SECRET_{name}. */
export function secretValueOf(
  name: string,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  return environment[SECRET_VARIABLE_PREFIX + name];
}

/** Prefix of the environment variables that hold pipeline secrets. */
export const SECRET_VARIABLE_PREFIX = 'LONGHAUL_SECRET_';

/** API key of this process: that of a client, or of the one who uses MCP over stdio. */
export function givenApiKey(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment['LONGHAUL_API_KEY'] || undefined;
}

/** Header `authorization` of requests to the codec server; never a setting, so that no list of settings shows it. */
export function givenCodecAuthorization(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment['LONGHAUL_PAYLOAD_CODEC_AUTHORIZATION'] || undefined;
}

/** Secret of this server at the authorization server, for introspection; never a setting, so that no list of settings shows it. */
export function givenOauthClientSecret(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment['LONGHAUL_OAUTH_CLIENT_SECRET'] || undefined;
}

/** Whether `longhaul up` started this process, and restarts and ends it. */
export function isSupervised(environment: NodeJS.ProcessEnv = process.env): boolean {
  return environment[SUPERVISED_VARIABLE] === '1';
}

/** Set to `1` by `longhaul up` for the processes that it starts. */
export const SUPERVISED_VARIABLE = 'LONGHAUL_SUPERVISED';

/**
 * Path of the configuration file in the project that a flag or the environment names, else in the folder.
 *
 * @param project the named project, absolute or relative to `folder`
 * @throws SettingsError when a folder holds more than one
 */
export function findConfigFile(project: unknown, folder: string): string | undefined {
  const folders = typeof project === 'string' && project ? [resolve(folder, project), folder] : [folder];
  for (const candidate of folders) {
    const found = ['longhaul.config.ts', 'longhaul.config.js', 'longhaul.config.json']
      .map((name) => join(candidate, name))
      .filter((path) => existsSync(path));
    if (found.length > 1)
      throw new SettingsError(`more than one configuration file: ${found.join(', ')}; keep one`);
    if (found[0]) return found[0];
  }
  return undefined;
}

async function readConfigFile(path: string): Promise<LonghaulConfig> {
  let config: unknown;
  try {
    // Loaded only for an existing file: it takes as long as everything else here.
    const { createJiti } = await import('jiti');
    config = await createJiti(import.meta.url).import(path, { default: true });
  } catch (error) {
    throw new SettingsError(
      `${path} can't be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new SettingsError(`${path}: expected an object of settings; got ${JSON.stringify(config)}`);
  }
  const unknown = Object.keys(config).filter((key) => !(key in fileSchema.shape));
  if (unknown.length) {
    throw new SettingsError(
      `${path}: unknown setting ${unknown.map((key) => `"${key}"`).join(', ')}; known are ${Object.keys(fileSchema.shape).join(', ')}`,
    );
  }
  return config;
}
