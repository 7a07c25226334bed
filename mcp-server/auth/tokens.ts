/**
 * Callers by tokens that others issue: an OAuth authorization server's access tokens, with this server as resource server (specs:
 * 2026-07-28 basic/authorization), and JWTs that a gateway in front sends in its own header, as Cloudflare Access, Google's
 * Identity-Aware Proxy and Pomerium do. A JWT counts by its signature, however the request arrived. An opaque token is introspected
 * (RFC 7662).
 */
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { Settings } from '../../platform/settings/index.js';
import { isHttpUrl } from '../../platform/settings/types.js';
import type { Logger } from '../../platform/log.js';
import { readPublicKey } from '../../platform/settings/public-key.js';
import type { AuthorizationServer } from './authorization-server.js';
import type { Caller, CredentialKind, Credentials } from './caller.js';
import { CredentialUnknown, InvalidToken, unavailabilityOf } from './challenge.js';
import type { Introspection } from './introspection.js';
import { isCurrent, isJwt, remoteKeys, verifyJwt, type JwtRules } from './jwt.js';
import type { AuditCredential } from '../../platform/audit-log/index.js';
import { identitySchema, principalOf } from '../../platform/principal.js';

/** An issuer's tokens: how to check them, and who their callers are. */
export interface TokenSource extends JwtRules {
  /** The request's token for this source. Empty or undefined without one. */
  tokenIn(credentials: Credentials): string | null | undefined;
  /** The issuer's keys. Undefined where all its tokens are opaque. @throws AuthenticationUnavailable */
  keys(): Promise<JWTVerifyGetKey | undefined>;
  claims: Omit<ClaimSettings, 'tenant'>;
  scope?: string | undefined;
  /** Checks opaque tokens. Default: none are accepted, and {@link keys} has some */
  introspection?: Introspection | undefined;
  /** Whether JWTs are introspected too. */
  introspectsJwts?: boolean;
}

/** Access tokens: `Authorization: Bearer`. */
export function oauthSource(settings: Settings, server: AuthorizationServer): TokenSource {
  const resource = settings.oauthResource!.replace(/\/$/, '');
  return {
    what: 'access token',
    tokenIn: ({ bearer }) => bearer,
    issuer: settings.oauthIssuer!,
    audience: [resource, `${resource}/`],
    keys: () => server.keys(),
    claims: {
      tenantClaim: settings.oauthTenantClaim,
      subjectClaim: settings.oauthSubjectClaim,
      groupsClaim: settings.oauthGroupsClaim,
    },
    scope: settings.oauthScope,
    introspection: server.introspection,
    introspectsJwts: settings.oauthIntrospection,
  };
}

/** JWTs of the gateway in front. @throws Error when the file of the public key can't be used */
export function gatewaySource(settings: Settings, logger: Logger): TokenSource {
  const where = settings.gatewayKeys!;
  const keys = isHttpUrl(where)
    ? remoteKeys(where, unavailabilityOf("the gateway's callers", logger))
    : keyIn(where);
  return {
    what: "gateway's JWT",
    tokenIn: ({ headers }) => headers?.get(settings.gatewayHeader!),
    issuer: settings.gatewayIssuer!,
    audience: [settings.gatewayAudience!],
    keys: () => Promise.resolve(keys),
    claims: {
      tenantClaim: settings.gatewayTenantClaim,
      subjectClaim: settings.gatewaySubjectClaim,
      groupsClaim: settings.gatewayGroupsClaim,
    },
  };
}

/** Throws what {@link callerOfToken} throws. */
export function callersOf(source: TokenSource): CredentialKind {
  return (credentials) => {
    const token = source.tokenIn(credentials);
    return token ? callerOfToken(source, token, credentials.isSuspect) : undefined;
  };
}

/**
 * @param isSuspect see {@link Introspection.check}
 * @throws OAuthError `invalid_token`, `insufficient_scope`; {@link CredentialUnknown}
 * @throws AuthenticationUnavailable
 */
async function callerOfToken(source: TokenSource, token: string, isSuspect: boolean): Promise<Caller> {
  const { what, introspection } = source;
  const keys = await source.keys();
  const isVerified = keys && (!introspection || isJwt(token));
  const verified = isVerified ? await verifyJwt(token, source, keys) : undefined;
  const isUnexpired = () => !verified || isCurrent(verified.exp!);
  const isAsked = introspection && (!verified || source.introspectsJwts);
  if (!isAsked) {
    if (!verified) throw new CredentialUnknown(`The ${what} is invalid`);
    return { ...callerOf(source, verified), isValid: isUnexpired };
  }
  const { accepted, isValid } = await introspection.check(
    { token, isSigned: verified !== undefined, isSuspect },
    (claims) => callerOf(source, verified ?? addressed(source, claims)),
  );
  return { ...accepted, isValid: () => isUnexpired() && isValid() };
}

/** @throws OAuthError `invalid_token`, `insufficient_scope` */
function callerOf(
  { what, issuer, claims: names, scope }: TokenSource,
  claims: JWTPayload,
): Omit<Caller, 'isValid'> {
  // Introspection answers need not name the issuer.
  const caller = callerOfClaims({ iss: issuer, ...claims }, what, { ...names, tenant: tenantOf(issuer) });
  if (scope !== undefined && !caller.scopes.includes(scope))
    throw new OAuthError(OAuthErrorCode.InsufficientScope, `The ${what} lacks the scope ${scope}`);
  return caller;
}

/** Refuses claims of an opaque token that isn't for this server, as {@link verifyJwt} does. The issuer may be missing. */
function addressed({ what, issuer, audience }: TokenSource, claims: JWTPayload): JWTPayload {
  const { iss = issuer, aud = [] } = claims;
  if (iss !== issuer) throw new InvalidToken(`The claim iss of the ${what} is invalid`);
  if (![aud].flat().some((one) => audience.includes(one)))
    throw new InvalidToken(`The claim aud of the ${what} is invalid`);
  return claims;
}

function keyIn(path: string): JWTVerifyGetKey {
  const key = readPublicKey(path);
  return () => Promise.resolve(key);
}

/** The issuer's host, or the issuer itself if it isn't a URL, like Pomerium's. */
function tenantOf(issuer: string): string {
  return (URL.canParse(issuer) && new URL(issuer).host) || issuer;
}

export interface ClaimSettings {
  /** Claim that names the tenant. Default: none, so all callers are in `tenant`. */
  tenantClaim: string | undefined;
  /** Tenant of callers without such a claim. */
  tenant: string;
  subjectClaim: string;
  groupsClaim: string;
}

/**
 * @param what carries the claims, for messages: `access token`
 * @throws OAuthError `invalid_token` when the tenant or subject is missing or not a valid name
 */
export function callerOfClaims(
  claims: JWTPayload,
  what: string,
  { tenantClaim, tenant, subjectClaim, groupsClaim }: ClaimSettings,
): Omit<Caller, 'isValid'> {
  const identity = identitySchema.safeParse({
    tenant: tenantClaim === undefined ? tenant : claimOf(claims, tenantClaim),
    subject: claimOf(claims, subjectClaim),
  });
  if (!identity.success) {
    const { path, message } = identity.error.issues[0]!;
    const claim = path[0] === 'tenant' ? tenantClaim : subjectClaim;
    throw new InvalidToken(`The claim ${claim} of the ${what}: ${message}`);
  }
  const groups = claimOf(claims, groupsClaim);
  return {
    ...identity.data,
    principal: principalOf(identity.data),
    groups: textsOf(typeof groups === 'string' ? [groups] : groups),
    scopes: scopesOf(claims),
    credential: credentialOf(claims),
  };
}

/** The client is in `client_id` (RFC 9068, section 2.2), or in OpenID Connect's `azp`. */
function credentialOf({ iss, client_id, azp }: JWTPayload): AuditCredential {
  const client = client_id ?? azp;
  return { kind: 'token', issuer: iss ?? '', ...(typeof client === 'string' ? { client } : {}) };
}

/** The claim `scope` (RFC 9068, section 2.2.3; RFC 7662, section 2.2), or some servers' `scp`. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  const given = scope ?? scp;
  return textsOf(typeof given === 'string' ? given.split(' ') : given);
}

/** A claim by its name, or by a dotted path such as Keycloak's `realm_access.roles`. */
function claimOf(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/** The texts of a list. Anything else names no group and no scope. */
function textsOf(given: unknown): string[] {
  const list: unknown[] = Array.isArray(given) ? given : [];
  return list.filter((one) => typeof one === 'string' && one !== '') as string[];
}
