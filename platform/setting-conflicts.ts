/** Settings that contradict or undo each other: the table of them, which processes check as they start, and `longhaul doctor`. */
import { auditConflict } from './audit-settings.js';
import { authConflict } from './auth-settings.js';
import { givenOauthClientSecret, SettingsError, type Settings } from './config.js';
import { keysFolderConflict } from './keys-folder.js';
import { metricsConflict } from './metrics-settings.js';
import { overlapsOf, type Overlap } from './private-paths.js';
import { realPathOf } from './real-path.js';
import { isPublishedSecret } from './secret.js';
import { settingFlag } from './setting-flag.js';
import { transportConflict } from './transport-settings.js';

interface Row {
  /** A row of all processes concerns each one that reads callers' files; others concern servers alone. */
  of: 'server' | 'all';
  /** Contradictions: the settings with their values, what was expected, and the cure. */
  find: (settings: Settings) => readonly (string | undefined)[];
}

const ROWS: readonly Row[] = [
  { of: 'server', find: (settings) => [authConflict(settings, settingFlag, hasClientSecret())] },
  { of: 'server', find: (settings) => [transportConflict(settings, settingFlag)] },
  { of: 'server', find: (settings) => [auditConflict(settings, settingFlag)] },
  { of: 'server', find: (settings) => [metricsConflict(settings, settingFlag)] },
  { of: 'all', find: (settings) => overlapsOf(settings).map(overlapConflict) },
  { of: 'all', find: (settings) => [keysFolderConflict(settings, settingFlag)] },
  { of: 'all', find: (settings) => [secretConflict(settings)] },
];

/** Settings that contradict or undo each other, a message for each: those that a worker checks, or all. */
export function settingConflicts(settings: Settings, process: 'worker' | 'server' = 'server'): string[] {
  return ROWS.filter(({ of }) => process === 'server' || of === 'all')
    .flatMap(({ find }) => find(settings))
    .filter((message) => message !== undefined);
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

function hasClientSecret(): boolean {
  return givenOauthClientSecret() !== undefined;
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

/** A path, and where its links lead. */
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
