/** The table of settings that contradict or undo each other, checked by starting processes and `longhaul doctor`. */
import { keysFolderConflict } from '../home/keys-folder.js';
import { realPathOf } from '../home/real-path.js';
import { isPublishedSecret } from '../home/secret.js';
import { settingFlag } from './flag.js';
import { isLoopback, parseAddress } from './health-address.js';
import { SettingsError, type Settings } from './index.js';
import { overlapsOf, type Overlap } from './private-paths.js';
import { readTlsFiles } from './tls-files.js';
import { readTokenSources } from './token-sources.js';

interface Row {
  /** `server`: concerns servers alone. `all`: concerns each process that reads callers' files. */
  of: 'server' | 'all';
  /**
   * Contradictions: the settings with their values, what was expected, and the cure.
   *
   * @throws SettingsError for a file that can't be used
   */
  find: (settings: Settings) => readonly (string | undefined)[];
}

const ROWS: readonly Row[] = [
  { of: 'server', find: (settings) => [hostConflict(settings)] },
  { of: 'server', find: neededSettings },
  { of: 'server', find: reading(({ tokenSources }) => tokenSources && readTokenSources(tokenSources)) },
  { of: 'server', find: reading((all) => all.tlsCert && all.tlsKey && readTlsFiles(all)) },
  { of: 'server', find: (settings) => [metricsConflict(settings)] },
  { of: 'all', find: (settings) => overlapsOf(settings).map(overlapConflict) },
  { of: 'all', find: (settings) => [keysFolderConflict(settings)] },
  { of: 'all', find: (settings) => [secretConflict(settings)] },
];

/** Settings with those that they need. */
const NEEDS = [
  ['tlsCert', 'tlsKey', 'the key of the certificate'],
  ['tlsKey', 'tlsCert', 'the certificate of the key'],
  ['tlsClientCa', 'tlsCert', "the server's certificate"],
  ['auditRequired', 'auditLog', 'the folder to write to'],
  ['policy', 'authentication', 'since roles are given to callers who say who they are'],
] as const;

/** Kinds of authentication with the settings that they need, which have no effect without them. */
const KINDS = [
  ['tokens', 'tokenSources', 'the issuers of tokens', 'tokens'],
  ['mtls', 'tlsClientCa', 'the authorities of client certificates', 'client certificates'],
] as const;

/** A message for each contradiction, for one kind of process. Servers check all. */
export function settingConflicts(settings: Settings, process: 'worker' | 'server' = 'server'): string[] {
  const found = ROWS.filter(({ of }) => process === 'server' || of === 'all')
    .flatMap(({ find }) => foundBy(find, settings))
    .filter((message) => message !== undefined);
  return [...new Set(found)];
}

function foundBy(find: Row['find'], settings: Settings): ReturnType<Row['find']> {
  try {
    return find(settings);
  } catch (error) {
    if (error instanceof SettingsError) return [error.message];
    throw error;
  }
}

/** @throws SettingsError when no server may start with these settings: it would let anybody in, or its TLS can't be used */
export function assertServable(settings: Settings): void {
  assertNone(settingConflicts(settings));
}

/** @throws SettingsError when no worker may start with these settings: callers could read what protects others */
export function assertWorkable(settings: Settings): void {
  assertNone(settingConflicts(settings, 'worker'));
}

function assertNone(conflicts: readonly string[]): void {
  if (conflicts.length > 0) throw new SettingsError(conflicts.join('\n'));
}

function hostConflict({ host, authentication, allowUnauthenticated }: Settings): string | undefined {
  if (isLoopback(host) || authentication.length > 0 || allowUnauthenticated) return undefined;
  return (
    `${settingFlag('host')} ${host}: expected a loopback address such as 127.0.0.1, since callers aren't authenticated and anybody who ` +
    `reaches the server could start and read all operations. Give each caller an API key (longhaul keys add) and set ` +
    `${settingFlag('authentication')} keys; or, behind a gateway that authenticates, set ${settingFlag('allowUnauthenticated')} true`
  );
}

function neededSettings(settings: Settings): string[] {
  const missing = NEEDS.filter(([name, needed]) => isGiven(settings[name]) && !isGiven(settings[needed]));
  const kinds = settingFlag('authentication');
  return [
    ...missing.map(([name, needed, why]) => {
      const value = settings[name] === true ? ' true' : '';
      return `${settingFlag(name)}${value}: expected ${settingFlag(needed)} too, ${why}`;
    }),
    ...KINDS.flatMap(([kind, name, why, what]) => {
      const isAccepted = settings.authentication.includes(kind);
      if (isAccepted === isGiven(settings[name])) return [];
      return isAccepted
        ? `${kinds} ${kind}: expected ${settingFlag(name)} too, ${why}`
        : `${settingFlag(name)}: expected ${kind} in ${kinds}; ${what} would have no effect`;
    }),
  ];
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

/** Finds what reading a file throws. */
function reading(read: (settings: Settings) => unknown): Row['find'] {
  return (settings) => {
    read(settings);
    return [];
  };
}

function overlapConflict({ dataFolder, privatePath, isAround }: Overlap): string {
  const { name, path } = privatePath;
  const [data, other] = [
    `${settingFlag('dataFolders')} ${described(dataFolder)}`,
    `${settingFlag(name)} ${described(path)}`,
  ];
  return isAround
    ? `${data}: expected folders without ${other}, since callers read files there. Name a folder beside it, or move it`
    : `${data}: expected a folder outside of ${other}, since callers read files there. Name or move it to another folder`;
}

/** A path and its real path. */
function described(path: string): string {
  const real = realPathOf(path);
  return real === path ? path : `${path} (which is ${real})`;
}

function secretConflict({ authentication }: Settings): string | undefined {
  return authentication.length > 0 && isPublishedSecret()
    ? `${settingFlag('authentication')} ${authentication.join(',')}: expected a LONGHAUL_SECRET of your own; got that of ` +
        'docker-compose.temporal.yml, which is public, so that anybody could sign starts and make sessions. Make one: ' +
        'openssl rand -base64 32'
    : undefined;
}

function metricsConflict(settings: Settings): string | undefined {
  const { metrics, healthAddress, authentication, port } = settings;
  if (metrics && healthAddress === undefined && authentication.length > 0)
    return `${settingFlag('metrics')} true: expected ${settingFlag('healthAddress')} too: with authentication, the server's own port has no /metrics`;
  if (healthAddress !== undefined && parseAddress(healthAddress)!.port === port)
    return `${settingFlag('healthAddress')} ${healthAddress}: expected another port than ${settingFlag('port')} ${port}`;
  return undefined;
}
