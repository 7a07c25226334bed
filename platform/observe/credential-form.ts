/** A Longhaul API key, or the beginning of a JSON Web Token. */
const CREDENTIAL = /lh_[0-9a-f]{12}_|eyJ[A-Za-z0-9_-]{8,}\./;

/** Whether a client's text contains a credential, which must not be logged. Clients have sent them in place of tokens. */
export function hasCredential(text: string): boolean {
  return CREDENTIAL.test(text);
}
