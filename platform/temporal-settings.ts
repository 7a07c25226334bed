/** Settings of the embedded Temporal, of Temporal's UI, and of the codec of external workflows. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { port } from './setting-types.js';

/** Values of `temporalUi` for the embedded Temporal's UI, and for no UI. */
export const EMBEDDED_UI = 'on';
export const NO_UI = 'off';

const EXPECTED = `expected '${EMBEDDED_UI}', '${NO_UI}', or the http or https URL of Temporal's UI without credentials, query and fragment`;

export const temporalSettingsShape = {
  /** Port of the embedded Temporal. Default: 7233, or the next free one. */
  temporalPort: port,
  /**
   * Address of Temporal's UI, to which records of failed operations link. `on`: the embedded Temporal's UI, linked unless callers
   * need authentication. `off`: no links, and no UI of the embedded Temporal. Default: `on` on Linux, `off` elsewhere.
   */
  temporalUi: z
    .string()
    .refine((text) => text === EMBEDDED_UI || text === NO_UI || isBareUrl(text), { error: EXPECTED }),
  /**
   * Payload codec of the workers of external workflows: a module with a PayloadCodec as its default export, or the URL of a codec
   * server. Default: none; their values are plain.
   */
  payloadCodec: z.string().min(1),
};

export interface TemporalSettings {
  temporalPort: number | undefined;
  temporalUi: string | undefined;
  /** Absolute path or URL. */
  payloadCodec: string | undefined;
}

/** @param folder base of a relative path */
export function resolvePayloadCodec(given: string | undefined, folder: string): string | undefined {
  return given === undefined || /^https?:/.test(given) ? given : resolve(folder, given);
}

/** Whether a text is an http or https URL that has an origin and a path only. */
function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && !username && !password && !search && !hash;
}
