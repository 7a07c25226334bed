/**
 * Callers by tokens that others issue: an OAuth authorization server's access tokens, with this server as resource server (specs:
 * 2026-07-28 basic/authorization), and JWTs that a gateway in front sends in its own header, as Cloudflare Access, Google's
 * Identity-Aware Proxy and Pomerium do. A JWT counts by its signature, however the request arrived. An opaque token is introspected
 * (RFC 7662).
 */
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import type { JWTPayload } from 'jose';
import type { AuditCredential } from '../audit/log/index.js';
import { isBearerHeader, type TokenSource } from '../../platform/settings/token-sources.js';
import { identityOf, type Caller, type CredentialKind } from './caller.js';
import { CredentialUnknown, InvalidToken } from './challenge.js';
import type { Issuer } from './issuer.js';
import { isCurrent, isJwt, verifyJwt } from './jwt.js';

/** Throws what {@link callerOfToken} throws. */
export function callersOf(issuer: Issuer): CredentialKind {
  const { header } = issuer.source;
  const isBearer = isBearerHeader(header);
  return ({ bearer, headers, isSuspect }) => {
    const token = isBearer ? bearer : headers?.get(header);
    return token ? callerOfToken(issuer, token, isSuspect) : undefined;
  };
}

/**
 * @param isSuspect see {@link Introspection.check}
 * @throws OAuthError `invalid_token`, `insufficient_scope`; {@link CredentialUnknown}
 * @throws AuthenticationUnavailable
 */
async function callerOfToken(issuer: Issuer, token: string, isSuspect: boolean): Promise<Caller> {
  const { source, introspection } = issuer;
  const keys = await issuer.keys();
  const isVerified = keys && (!introspection || isJwt(token));
  const verified = isVerified
    ? await verifyJwt(token, { issuer: source.issuer, audience: audienceOf(source) }, keys)
    : undefined;
  const isUnexpired = () => !verified || isCurrent(verified.exp!);
  const isAsked = introspection && (!verified || source.introspection?.jwts);
  if (!isAsked) {
    if (!verified) throw new CredentialUnknown('The token is invalid');
    return { ...callerOfClaims(source, verified), isValid: isUnexpired };
  }
  const { accepted, isValid } = await introspection.check(
    { token, isSigned: verified !== undefined, isSuspect },
    (claims) => callerOfClaims(source, verified ?? addressed(source, claims)),
  );
  return { ...accepted, isValid: () => isUnexpired() && isValid() };
}

/** The claim `aud` must have one of them. The URL of a resource may end with a slash. */
function audienceOf({ header, audience }: TokenSource): string[] {
  if (!isBearerHeader(header)) return [audience];
  const resource = audience.replace(/\/$/, '');
  return [resource, `${resource}/`];
}

/** Refuses claims of an opaque token that isn't for this server, as {@link verifyJwt} does. The issuer may be missing. */
function addressed(source: TokenSource, claims: JWTPayload): JWTPayload {
  const { iss = source.issuer, aud = [] } = claims;
  if (iss !== source.issuer) throw new InvalidToken('The claim iss of the token is invalid');
  const audience = audienceOf(source);
  if (![aud].flat().some((one) => audience.includes(one)))
    throw new InvalidToken('The claim aud of the token is invalid');
  return claims;
}

/**
 * The caller that a JWT or an introspection answer names.
 *
 * @throws OAuthError `invalid_token` when the tenant or subject is missing or not a valid name; `insufficient_scope`
 */
export function callerOfClaims(
  { issuer, scope, claims: names }: Pick<TokenSource, 'issuer' | 'scope' | 'claims'>,
  claims: JWTPayload,
): Omit<Caller, 'isValid'> {
  const given = {
    tenant: names.tenant === undefined ? tenantOf(issuer) : claimOf(claims, names.tenant),
    subject: claimOf(claims, names.subject),
  };
  const identity = identityOf(
    given,
    (part, why) => new InvalidToken(`The claim ${names[part]} of the token: ${why}`),
  );
  const scopes = scopesOf(claims);
  if (scope !== undefined && !scopes.includes(scope))
    throw new OAuthError(OAuthErrorCode.InsufficientScope, `The token lacks the scope ${scope}`);
  const groups = claimOf(claims, names.groups);
  return {
    ...identity,
    groups: textsOf(typeof groups === 'string' ? [groups] : groups),
    scopes,
    credential: credentialOf(issuer, claims),
  };
}

/** The issuer's host, or the issuer itself if it isn't a URL, like Pomerium's. */
function tenantOf(issuer: string): string {
  return (URL.canParse(issuer) && new URL(issuer).host) || issuer;
}

/** The client is in `client_id` (RFC 9068, section 2.2), or in OpenID Connect's `azp`. */
function credentialOf(issuer: string, { client_id, azp }: JWTPayload): AuditCredential {
  const client = client_id ?? azp;
  return { kind: 'token', issuer, client: typeof client === 'string' ? client : undefined };
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
