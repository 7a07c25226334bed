/** Callers by the claims of a JWT or of an introspected token. */
import type { JWTPayload } from 'jose';
import type { AuditCredential } from '../../platform/audit-log/index.js';
import { identitySchema, principalOf } from '../../platform/principal.js';
import type { Caller } from './caller.js';
import { InvalidToken } from './challenge.js';

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
