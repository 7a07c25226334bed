/** Values of Temporal's settings. */

/** Values of `temporalUi` for the embedded Temporal's UI, and for no UI. */
export const EMBEDDED_UI = 'on';
export const NO_UI = 'off';

/** Whether a text is an http or https URL with only an origin and a path. */
export function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && !username && !password && !search && !hash;
}
