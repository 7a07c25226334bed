/** Finds settings of authentication that contradict each other. */
import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { settingFlag } from './flag.js';
import { readPublicKey } from './public-key.js';
import type { Settings } from './table.js';
import { isHttpUrl } from './types.js';

/** Whether only this machine can reach an address. Names other than localhost count as reachable from elsewhere. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Settings that each method requires. */
const NEEDED = {
  oauth: ['oauthIssuer', 'oauthResource'],
  gateway: ['gatewayHeader', 'gatewayKeys', 'gatewayIssuer', 'gatewayAudience'],
} as const;

/** Why no server may start with these settings. @param hasClientSecret whether LONGHAUL_OAUTH_CLIENT_SECRET is set */
export function authConflict({ host, ...auth }: Settings, hasClientSecret: boolean): string | undefined {
  for (const [method, names] of Object.entries(NEEDED))
    if (auth.authentication.includes(method as 'oauth'))
      for (const name of names)
        if (auth[name] === undefined)
          return `${settingFlag('authentication')} ${method}: expected ${settingFlag(name)} too`;
  if (auth.authentication.includes('oauth')) {
    const conflict = introspectionConflict(auth, hasClientSecret);
    if (conflict !== undefined) return conflict;
  }
  if (auth.authentication.includes('gateway')) {
    const conflict = gatewayConflict(auth);
    if (conflict !== undefined) return conflict;
  }
  if (auth.policy !== undefined && auth.authentication.length === 0)
    return `${settingFlag('policy')}: expected ${settingFlag('authentication')} too: roles are given to callers who say who they are`;
  if (isLoopback(host) || auth.authentication.length > 0 || auth.allowUnauthenticated) return undefined;
  return (
    `${settingFlag('host')} ${host}: expected a loopback address such as 127.0.0.1, since callers aren't authenticated and anybody who ` +
    `reaches the server could start and read all operations. Give each caller an API key (longhaul keys add) and set ` +
    `${settingFlag('authentication')} keys; or, behind a gateway that authenticates, set ${settingFlag('allowUnauthenticated')} true`
  );
}

function introspectionConflict(
  { oauthClientId, oauthClientSecretFile: file, ...auth }: Omit<Settings, 'host'>,
  hasClientSecret: boolean,
): string | undefined {
  if (oauthClientId === undefined) {
    const needing = auth.oauthIntrospection ? 'oauthIntrospection' : 'oauthIntrospectionEndpoint';
    const isNeeded = auth.oauthIntrospection || auth.oauthIntrospectionEndpoint !== undefined;
    return isNeeded ? `${settingFlag(needing)}: expected ${settingFlag('oauthClientId')} too` : undefined;
  }
  if ((file === undefined) === !hasClientSecret)
    return (
      `${settingFlag('oauthClientId')}: expected its secret either in the variable LONGHAUL_OAUTH_CLIENT_SECRET or in ` +
      `${settingFlag('oauthClientSecretFile')}; got ${hasClientSecret ? 'both' : 'neither'}`
    );
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').trim() === ''
      ? `${settingFlag('oauthClientSecretFile')} ${file}: expected a secret; got an empty file`
      : undefined;
  } catch (error) {
    return `${settingFlag('oauthClientSecretFile')} ${file}: expected a file with a secret; ${(error as Error).message}`;
  }
}

function gatewayConflict({ gatewayKeys: keys }: Pick<Settings, 'gatewayKeys'>): string | undefined {
  if (keys === undefined || isHttpUrl(keys)) return undefined;
  try {
    readPublicKey(keys);
    return undefined;
  } catch (error) {
    return `${settingFlag('gatewayKeys')} ${(error as Error).message}. Or name the http or https URL of its keys`;
  }
}
