/** The table of settings that contradict or undo each other, checked by starting processes and `longhaul doctor`. */
import { keysFolderConflict } from '../keys-folder.js';
import { realPathOf } from '../real-path.js';
import { isPublishedSecret } from '../secret.js';
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
  { of: 'server', find: (settings) => [authConflict(settings)] },
  { of: 'server', find: (settings) => [tlsConflict(settings)] },
  { of: 'server', find: (settings) => [auditConflict(settings)] },
  { of: 'server', find: (settings) => [metricsConflict(settings)] },
  { of: 'all', find: (settings) => overlapsOf(settings).map(overlapConflict) },
  { of: 'all', find: (settings) => [keysFolderConflict(settings)] },
  { of: 'all', find: (settings) => [secretConflict(settings)] },
];

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

function authConflict(settings: Settings): string | undefined {
  const { host, authentication, tokenSources, policy } = settings;
  const acceptsTokens = authentication.includes('tokens');
  if (acceptsTokens && tokenSources === undefined)
    return `${settingFlag('authentication')} tokens: expected ${settingFlag('tokenSources')} too, the issuers of tokens`;
  if (!acceptsTokens && tokenSources !== undefined)
    return `${settingFlag('tokenSources')}: expected tokens in ${settingFlag('authentication')}; tokens would have no effect`;
  if (tokenSources !== undefined) readTokenSources(tokenSources);
  if (policy !== undefined && authentication.length === 0)
    return `${settingFlag('policy')}: expected ${settingFlag('authentication')} too: roles are given to callers who say who they are`;
  if (isLoopback(host) || authentication.length > 0 || settings.allowUnauthenticated) return undefined;
  return (
    `${settingFlag('host')} ${host}: expected a loopback address such as 127.0.0.1, since callers aren't authenticated and anybody who ` +
    `reaches the server could start and read all operations. Give each caller an API key (longhaul keys add) and set ` +
    `${settingFlag('authentication')} keys; or, behind a gateway that authenticates, set ${settingFlag('allowUnauthenticated')} true`
  );
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

function tlsConflict(settings: Settings): string | undefined {
  const { tlsCert, tlsKey, tlsClientCa, authentication } = settings;
  const usesMtls = authentication.includes('mtls');
  if (tlsCert !== undefined && tlsKey === undefined)
    return `${settingFlag('tlsCert')}: expected ${settingFlag('tlsKey')} too, the key of the certificate`;
  if (tlsKey !== undefined && tlsCert === undefined)
    return `${settingFlag('tlsKey')}: expected ${settingFlag('tlsCert')} too, the certificate of the key`;
  if (tlsClientCa !== undefined && tlsCert === undefined)
    return `${settingFlag('tlsClientCa')}: expected ${settingFlag('tlsCert')} and ${settingFlag('tlsKey')} too`;
  if (usesMtls && tlsClientCa === undefined)
    return `${settingFlag('authentication')} mtls: expected ${settingFlag('tlsClientCa')} too, the authorities of client certificates`;
  if (tlsClientCa !== undefined && !usesMtls)
    return `${settingFlag('tlsClientCa')}: expected mtls in ${settingFlag('authentication')}; client certificates would have no effect`;
  if (tlsCert === undefined) return undefined;
  try {
    readTlsFiles(settings, settingFlag);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function auditConflict({ auditLog, auditRequired }: Settings): string | undefined {
  return auditRequired && auditLog === undefined
    ? `${settingFlag('auditRequired')} true: expected ${settingFlag('auditLog')} too, the folder to write to`
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
