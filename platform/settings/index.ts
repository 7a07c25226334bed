/**
 * The one place that reads settings and the environment. Flags override the environment, then `longhaul.config.(ts|js|json)`,
 * then defaults.
 */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { usesExternalTemporal } from '../temporal/address.js';
import { settingFlag } from './flag.js';
import {
  SETTINGS,
  type Context,
  type LonghaulConfig,
  type Row,
  type SettingName,
  type Settings,
} from './table.js';
import { Expected, isHttpUrl } from './types.js';

export type { LonghaulConfig, SettingName, Settings } from './table.js';

const NAMES = Object.keys(SETTINGS) as SettingName[];
const ROWS = SETTINGS as unknown as Record<SettingName, Row<unknown>>;
/** Settings with those that they need. */
const PAIRS = [
  ['targetCpuUsage', 'targetMemoryUsage'],
  ['targetMemoryUsage', 'targetCpuUsage'],
] as const;

/** The environment variable of each setting: `LONGHAUL_TEMPORAL_PORT` for `temporalPort`. */
export const SETTING_VARIABLES = Object.fromEntries(
  NAMES.map((name) => [name, `LONGHAUL_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`]),
) as Record<SettingName, string>;

/** Invalid setting. The message names its source, what was expected and what came. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

/** A value as given, and its source. */
interface Given {
  source: string;
  raw: unknown;
  /** Base of a relative path. */
  folder: string;
}

/**
 * Reads the settings.
 *
 * @param flags values given on the command line; they take precedence
 * @param folder base of relative paths. Default: the working folder. `longhaul.config.*` is read from the project that a flag or
 *   the environment names, else from here
 * @throws SettingsError when a value has the wrong form or contradicts another one, or a key isn't known
 */
export async function loadSettings(
  flags: Partial<Record<SettingName, unknown>> = {},
  environment: NodeJS.ProcessEnv = process.env,
  folder: string = process.cwd(),
): Promise<Settings> {
  const project = flags.project ?? environment[SETTING_VARIABLES.project];
  const path = findConfigFile(project, folder);
  const config = path === undefined ? {} : await readConfigFile(path);
  const configFolder = path === undefined ? folder : dirname(path);
  const givenFor = (name: SettingName): Given | undefined => {
    if (flags[name] !== undefined) return { source: settingFlag(name), raw: flags[name], folder };
    const variable = SETTING_VARIABLES[name];
    if (environment[variable]) return { source: variable, raw: environment[variable], folder };
    const raw = config[name];
    return raw === undefined ? undefined : { source: `"${name}" in ${path}`, raw, folder: configFolder };
  };
  const values: Record<string, unknown> = {};
  const isUnderUp = isSupervised(environment);
  const isExternal = usesExternalTemporal(environment);
  const context: Context = { values, environment, folder: configFolder, isExternal };
  for (const name of NAMES) {
    const { type, default: fallback, underUp } = ROWS[name];
    const given = givenFor(name);
    const value = given ? valueOf(type, given) : fallback.of(context);
    values[name] = isUnderUp && underUp !== undefined ? underUp : value;
  }
  const { drainTimeout: drainTimeoutMs, ...others } = values;
  const settings = { ...others, drainTimeoutMs } as unknown as Settings;
  for (const [name, other] of PAIRS)
    if (settings[name] !== undefined && settings[other] === undefined)
      throw invalid(givenFor(name)!, `expected ${settingFlag(other)} too`);
  return settings;
}

/** @throws SettingsError */
function valueOf(type: Row<unknown>['type'], given: Given): unknown {
  let value: unknown;
  try {
    value = type.parse(given.raw);
  } catch (error) {
    if (error instanceof Expected) throw invalid(given, error.message);
    throw error;
  }
  if (!type.isPath) return value;
  const absolute = (path: string) => (isHttpUrl(path) ? path : resolve(given.folder, path));
  return Array.isArray(value) ? value.map(absolute) : absolute(value as string);
}

function invalid({ source, raw }: Given, expected: string): SettingsError {
  return new SettingsError(`${source}: ${expected}; got ${JSON.stringify(raw)}`);
}

/** Value of a setting in the form in which you give it. */
export function settingValue(settings: Settings, name: SettingName) {
  return name === 'drainTimeout' ? `${settings.drainTimeoutMs / 1_000}s` : settings[name];
}

/** Environment variables that give a child process the same settings. */
export function settingsToEnvironment(settings: Settings): Record<string, string> {
  return Object.fromEntries(
    NAMES.flatMap((name): [string, string][] => {
      const value = settingValue(settings, name);
      if (value === undefined) return [];
      const { separator = '' } = ROWS[name].type;
      // A lone separator means an empty list; an empty variable would count as unset.
      const text = Array.isArray(value) ? value.join(separator) || separator : String(value);
      return [[SETTING_VARIABLES[name], text]];
    }),
  );
}

/** The configuration file in the named project, else in the folder. @throws SettingsError when the folder holds more than one */
export function findConfigFile(project: unknown, folder: string): string | undefined {
  const searched = typeof project === 'string' && project ? resolve(folder, project) : folder;
  const found = ['longhaul.config.ts', 'longhaul.config.js', 'longhaul.config.json']
    .map((name) => join(searched, name))
    .filter((path) => existsSync(path));
  if (found.length > 1)
    throw new SettingsError(`more than one configuration file: ${found.join(', ')}; keep one`);
  return found[0];
}

async function readConfigFile(path: string): Promise<LonghaulConfig> {
  let config: unknown;
  try {
    // Load jiti only for an existing file: it takes as long as everything else here.
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
  const unknown = Object.keys(config).filter((key) => key !== '$schema' && !Object.hasOwn(SETTINGS, key));
  if (unknown.length) {
    throw new SettingsError(
      `${path}: unknown setting ${unknown.map((key) => `"${key}"`).join(', ')}; known are ${NAMES.join(', ')}`,
    );
  }
  return config;
}

/** Value of a pipeline secret: the worker's variable LONGHAUL_SECRET_{name}. */
export function secretValueOf(name: string, environment = process.env): string | undefined {
  return environment[SECRET_VARIABLE_PREFIX + name];
}

export const SECRET_VARIABLE_PREFIX = 'LONGHAUL_SECRET_';

/** API key of this process, as a client or for MCP over stdio. */
export function givenApiKey(): string | undefined {
  return process.env['LONGHAUL_API_KEY'] || undefined;
}

/** Header `authorization` for the codec server. Never a setting, so that no list of settings shows it. */
export function givenCodecAuthorization(): string | undefined {
  return process.env['LONGHAUL_PAYLOAD_CODEC_AUTHORIZATION'] || undefined;
}

/** The version that a deployer gives a worker, by the variables of Temporal's Worker Controller. */
export function givenVersion(): Record<'deploymentName' | 'buildId', string | undefined> {
  return {
    deploymentName: process.env['TEMPORAL_DEPLOYMENT_NAME'] || undefined,
    buildId: process.env['TEMPORAL_WORKER_BUILD_ID'] || undefined,
  };
}

/** Whether `longhaul up` started this process, and restarts and ends it. */
export function isSupervised(environment: NodeJS.ProcessEnv = process.env): boolean {
  return environment[SUPERVISED_VARIABLE] === '1';
}

/** Set to `1` by `longhaul up` for the processes that it starts. */
export const SUPERVISED_VARIABLE = 'LONGHAUL_SUPERVISED';
