/** Settings of the embedded Temporal, and of Temporal's UI. */
import { z } from 'zod';
import { port } from './setting-types.js';

/** Value of `temporalUi` for no UI. */
export const NO_UI = 'off';

const EXPECTED = `expected '${NO_UI}', or the http or https URL of Temporal's UI without credentials, query and fragment`;

export const temporalSettingsShape = {
  /** Port of the embedded Temporal. Default: 7233, or the next free one. */
  temporalPort: port,
  /**
   * Address of Temporal's UI, to which records of failed operations link; `off`: no links. Default: that of the embedded Temporal
   * if callers need no authentication, else none.
   */
  temporalUi: z.string().refine((text) => text === NO_UI || isBareUrl(text), { error: EXPECTED }),
};

export interface TemporalSettings {
  temporalPort: number | undefined;
  temporalUi: string | undefined;
}

/** Whether a text is an http or https URL that has an origin and a path only. */
function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && !username && !password && !search && !hash;
}
