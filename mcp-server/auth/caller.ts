/** Callers: who asks. */
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
