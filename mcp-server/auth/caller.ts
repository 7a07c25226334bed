/** Callers: who asks, and how they prove it. */
import type { Socket } from 'node:net';
import type { AuditCredential } from '../../platform/audit-log/index.js';
import { ANONYMOUS } from '../../operations/wire.js';

export interface Caller {
  /** Owner of the operations that the caller starts, and the only one who sees them. */
  principal: string;
  /** Tenant and subject that the principal is made of; undefined without authentication. */
  tenant: string | undefined;
  subject: string | undefined;
  /** Groups in the tenant: of the API key, or of the claim that the settings name. Case counts. */
  groups: readonly string[];
  /** OAuth scopes of the access token; none with other credentials. */
  scopes: readonly string[];
  /** How the caller has proved who it is; undefined without authentication. */
  credential: AuditCredential | undefined;
  /** Whether the credential may still be used: keys are revoked, tokens expire. */
  isValid(): boolean;
}

/** Proof of who sends a request: its header Authorization alone, or its other headers and its connection. */
export interface Credentials {
  /** Credential of `Authorization: Bearer` (RFC 6750, section 2.1). */
  bearer?: string | undefined;
  headers?: Headers;
  socket?: Socket | undefined;
  /** Whether too many unknown credentials have come from the same address. */
  isSuspect: boolean;
}

/**
 * Finds the caller by one kind of credential; undefined for a request without one.
 *
 * @throws OAuthError, AuthenticationUnavailable for a credential of this kind that doesn't count
 */
export type CredentialKind = (credentials: Credentials) => Caller | undefined | Promise<Caller | undefined>;

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
