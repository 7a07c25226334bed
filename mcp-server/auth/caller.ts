/** Callers: who asks. */
import { ANONYMOUS } from '../../operations/wire.js';

export interface Caller {
  /** Owner of the operations that the caller starts, and the only one who sees them. */
  principal: string;
  /** Whether the credential may still be used: keys are revoked, tokens expire. */
  isValid(): boolean;
}

/** Every caller of a server without authentication. */
export const ANYBODY: Caller = { principal: ANONYMOUS, isValid: () => true };
