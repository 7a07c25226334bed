/** An API key of Longhaul, or the beginning of a JSON Web Token. */
const CREDENTIAL = /lh_[0-9a-f]{12}_|eyJ[A-Za-z0-9_-]{8,}\./;

/** Whether a text that a client chose has a credential in it: clients have sent them in place of tokens. It isn't logged then. */
export function hasCredential(text: string): boolean {
  return CREDENTIAL.test(text);
}
