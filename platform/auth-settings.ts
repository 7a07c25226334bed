/** Settings of authentication: who may call the server. */
import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { readPublicKey } from './public-key.js';
import { commaSeparated, yesOrNo } from './setting-types.js';

const methods = z.enum(['keys', 'oauth', 'gateway', 'mtls']);
const url = z.string().refine(isHttpUrl, { error: 'expected an http or https URL' });

export const authSettingsShape = {
  /**
   * How callers say who they are: `keys` for API keys, `oauth` for access tokens of an OAuth authorization server, `gateway` for
   * JWTs of a gateway in front, `mtls` for client certificates; several may be named. Default: none, so that all callers are one,
   * and the server listens on loopback only.
   */
  authentication: commaSeparated(methods),
  /** Listen on other addresses than loopback without authentication, behind a gateway. Default: false. */
  allowUnauthenticated: yesOrNo,
  /** Folder of the API keys, which `longhaul keys` writes. Default: `keys` in the home. */
  keysFolder: z.string().min(1),
  /** File with the roles of callers. Default: none, so that each may do everything with operations of its own. */
  policy: z.string().min(1),
  /** Issuer of OAuth access tokens, as in their claim `iss`. Needed for `oauth`. */
  oauthIssuer: url,
  /** Public URL of this server's MCP endpoint: tokens must have it as their audience. Needed for `oauth`. */
  oauthResource: url,
  /** Scope that each access token needs. Default: none. */
  oauthScope: z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'expected one OAuth scope'),
  /** Claim of the access token that names the tenant. Default: none, so that the issuer's callers are one tenant. */
  oauthTenantClaim: z.string().min(1),
  /** Claim of the access token that names the subject. Default: `sub`. */
  oauthSubjectClaim: z.string().min(1),
  /** Claim of the access token that lists the caller's groups. Default: `groups`. */
  oauthGroupsClaim: z.string().min(1),
  /**
   * Client ID of this server at the authorization server, with which it asks whether opaque tokens are valid (RFC 7662). Its secret is
   * in LONGHAUL_OAUTH_CLIENT_SECRET or a file. Default: none, so that opaque tokens are refused.
   */
  oauthClientId: z.string().min(1),
  /** File with the secret of `oauthClientId`. */
  oauthClientSecretFile: z.string().min(1),
  /** Ask about tokens that are JWTs too, so that revoked ones end. Default: false. */
  oauthIntrospection: yesOrNo,
  /** Address of the introspection endpoint. Default: that of the authorization server's metadata. */
  oauthIntrospectionEndpoint: url,
  /** Header in which the gateway sends its JWT, such as `Cf-Access-Jwt-Assertion`. Needed for `gateway`. */
  gatewayHeader: z
    .string()
    .regex(
      /^(?!authorization$)[A-Za-z0-9!#$%&'*+.^_`|~-]+$/i,
      'expected the name of a header other than Authorization',
    ),
  /** Address of the gateway's keys, a JSON Web Key Set, or a PEM file with its public key or certificate. Needed for `gateway`. */
  gatewayKeys: z.string().min(1),
  /** Issuer of the gateway's JWTs, as in their claim `iss`. Needed for `gateway`. */
  gatewayIssuer: z.string().min(1),
  /** Audience of the gateway's JWTs for this server, as in their claim `aud`. Needed for `gateway`. */
  gatewayAudience: z.string().min(1),
  /** Claim of the gateway's JWT that names the tenant. Default: none, so that the gateway's callers are one tenant. */
  gatewayTenantClaim: z.string().min(1),
  /** Claim of the gateway's JWT that names the subject. Default: `sub`. */
  gatewaySubjectClaim: z.string().min(1),
  /** Claim of the gateway's JWT that lists the caller's groups. Default: `groups`. */
  gatewayGroupsClaim: z.string().min(1),
};

export interface AuthSettings {
  authentication: z.infer<typeof methods>[];
  allowUnauthenticated: boolean;
  keysFolder: string;
  policy: string | undefined;
  oauthIssuer: string | undefined;
  oauthResource: string | undefined;
  oauthScope: string | undefined;
  oauthTenantClaim: string | undefined;
  oauthSubjectClaim: string;
  oauthGroupsClaim: string;
  oauthClientId: string | undefined;
  oauthClientSecretFile: string | undefined;
  oauthIntrospection: boolean;
  oauthIntrospectionEndpoint: string | undefined;
  gatewayHeader: string | undefined;
  gatewayKeys: string | undefined;
  gatewayIssuer: string | undefined;
  gatewayAudience: string | undefined;
  gatewayTenantClaim: string | undefined;
  gatewaySubjectClaim: string;
  gatewayGroupsClaim: string;
}

/** The settings, with defaults for those that aren't given. @param pathOf makes a path absolute */
export function resolveAuthSettings(
  given: Partial<z.infer<z.ZodObject<typeof authSettingsShape>>>,
  home: string,
  pathOf: (name: 'keysFolder' | 'oauthClientSecretFile' | 'gatewayKeys' | 'policy', path: string) => string,
): AuthSettings {
  return {
    authentication: given.authentication ?? [],
    allowUnauthenticated: given.allowUnauthenticated ?? false,
    keysFolder: given.keysFolder === undefined ? join(home, 'keys') : pathOf('keysFolder', given.keysFolder),
    policy: given.policy && pathOf('policy', given.policy),
    oauthIssuer: given.oauthIssuer,
    oauthResource: given.oauthResource,
    oauthScope: given.oauthScope,
    oauthTenantClaim: given.oauthTenantClaim,
    oauthSubjectClaim: given.oauthSubjectClaim ?? 'sub',
    oauthGroupsClaim: given.oauthGroupsClaim ?? 'groups',
    oauthClientId: given.oauthClientId,
    oauthClientSecretFile:
      given.oauthClientSecretFile && pathOf('oauthClientSecretFile', given.oauthClientSecretFile),
    oauthIntrospection: given.oauthIntrospection ?? false,
    oauthIntrospectionEndpoint: given.oauthIntrospectionEndpoint,
    gatewayHeader: given.gatewayHeader,
    gatewayKeys:
      given.gatewayKeys === undefined || isHttpUrl(given.gatewayKeys)
        ? given.gatewayKeys
        : pathOf('gatewayKeys', given.gatewayKeys),
    gatewayIssuer: given.gatewayIssuer,
    gatewayAudience: given.gatewayAudience,
    gatewayTenantClaim: given.gatewayTenantClaim,
    gatewaySubjectClaim: given.gatewaySubjectClaim ?? 'sub',
    gatewayGroupsClaim: given.gatewayGroupsClaim ?? 'groups',
  };
}

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** Whether only this machine can reach an address. Names other than localhost count as reachable from elsewhere. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Settings that a method can't do without. */
const NEEDED = {
  oauth: ['oauthIssuer', 'oauthResource'],
  gateway: ['gatewayHeader', 'gatewayKeys', 'gatewayIssuer', 'gatewayAudience'],
} as const;

/**
 * The reason why no server may start with these settings; undefined if one may.
 *
 * @param flag name of a setting -> its flag
 * @param hasClientSecret whether LONGHAUL_OAUTH_CLIENT_SECRET is set
 */
export function authConflict(
  { host, ...auth }: AuthSettings & { host: string },
  flag: (name: keyof AuthSettings | 'host') => string,
  hasClientSecret: boolean,
): string | undefined {
  for (const [method, names] of Object.entries(NEEDED))
    if (auth.authentication.includes(method as 'oauth'))
      for (const name of names)
        if (auth[name] === undefined)
          return `${flag('authentication')} ${method}: expected ${flag(name)} too`;
  if (auth.authentication.includes('oauth')) {
    const conflict = introspectionConflict(auth, flag, hasClientSecret);
    if (conflict !== undefined) return conflict;
  }
  if (auth.authentication.includes('gateway')) {
    const conflict = gatewayConflict(auth, flag);
    if (conflict !== undefined) return conflict;
  }
  if (auth.policy !== undefined && auth.authentication.length === 0)
    return `${flag('policy')}: expected ${flag('authentication')} too: roles are given to callers who say who they are`;
  if (isLoopback(host) || auth.authentication.length > 0 || auth.allowUnauthenticated) return undefined;
  return (
    `${flag('host')} ${host}: expected a loopback address such as 127.0.0.1, since callers aren't authenticated and anybody who ` +
    `reaches the server could start and read all operations. Give each caller an API key (longhaul keys add) and set ` +
    `${flag('authentication')} keys; or, behind a gateway that authenticates, set ${flag('allowUnauthenticated')} true`
  );
}

function introspectionConflict(
  { oauthClientId, oauthClientSecretFile: file, ...auth }: AuthSettings,
  flag: (name: keyof AuthSettings) => string,
  hasClientSecret: boolean,
): string | undefined {
  if (oauthClientId === undefined) {
    const needing = auth.oauthIntrospection ? 'oauthIntrospection' : 'oauthIntrospectionEndpoint';
    const isNeeded = auth.oauthIntrospection || auth.oauthIntrospectionEndpoint !== undefined;
    return isNeeded ? `${flag(needing)}: expected ${flag('oauthClientId')} too` : undefined;
  }
  if ((file === undefined) === !hasClientSecret)
    return (
      `${flag('oauthClientId')}: expected its secret either in the variable LONGHAUL_OAUTH_CLIENT_SECRET or in ` +
      `${flag('oauthClientSecretFile')}; got ${hasClientSecret ? 'both' : 'neither'}`
    );
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').trim() === ''
      ? `${flag('oauthClientSecretFile')} ${file}: expected a secret; got an empty file`
      : undefined;
  } catch (error) {
    return `${flag('oauthClientSecretFile')} ${file}: expected a file with a secret; ${(error as Error).message}`;
  }
}

function gatewayConflict(
  { gatewayKeys: keys }: AuthSettings,
  flag: (name: keyof AuthSettings) => string,
): string | undefined {
  if (keys === undefined || isHttpUrl(keys)) return undefined;
  try {
    readPublicKey(keys);
    return undefined;
  } catch (error) {
    return `${flag('gatewayKeys')} ${(error as Error).message}. Or name the http or https URL of its keys`;
  }
}
