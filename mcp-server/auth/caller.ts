/** Callers: who asks, and how they prove it. */
import type { Socket } from 'node:net';
import type { AuditCredential } from '../audit/log/index.js';
import { identitySchema, principalOf } from '../../operations/principal.js';
import { ANONYMOUS } from '../../operations/wire/index.js';

export interface Caller {
  /** Owner of the operations that the caller starts. */
  principal: string;
  /** Tenant and subject that make up the principal. Undefined without authentication. */
  tenant: string | undefined;
  subject: string | undefined;
  /** The caller's groups in the tenant, from the API key or the claim in the settings. Case-sensitive. */
  groups: readonly string[];
  /** OAuth scopes of an access token. Empty for other credentials. */
  scopes: readonly string[];
  credential: AuditCredential | undefined;
  /** Whether the credential is still valid: keys get revoked, tokens expire. */
  isValid(): boolean;
}

/** Proof of who sends a request: only its Authorization header, or its other headers and its connection. */
export interface Credentials {
  /** Credential of `Authorization: Bearer` (RFC 6750, section 2.1). */
  bearer?: string | undefined;
  headers?: Headers;
  socket?: Socket | undefined;
  /** Whether too many unknown credentials came from the same address. */
  isSuspect: boolean;
}

/**
 * Finds the caller by one kind of credential. Undefined for a request without one.
 *
 * @throws OAuthError, AuthenticationUnavailable for a credential of this kind that isn't accepted
 */
export type CredentialKind = (credentials: Credentials) => Caller | undefined | Promise<Caller | undefined>;

/** @param refuse makes the error for a part of the identity that can't be used */
export function identityOf(
  given: Record<'tenant' | 'subject', unknown>,
  refuse: (part: 'tenant' | 'subject', why: string) => Error,
): Pick<Caller, 'principal' | 'tenant' | 'subject'> {
  const identity = identitySchema.safeParse(given);
  if (identity.success) return { ...identity.data, principal: principalOf(identity.data) };
  const { path, message } = identity.error.issues[0]!;
  throw refuse(path[0] as 'tenant' | 'subject', message);
}

/** Every caller of a server without authentication. */
export const ANYBODY: Caller = {
  principal: ANONYMOUS,
  tenant: undefined,
  subject: undefined,
  groups: [],
  scopes: [],
  credential: undefined,
  isValid: () => true,
};
