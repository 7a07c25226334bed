/**
 * The codec of workers that aren't Longhaul's: your module, or a codec server like Temporal's UI uses. Encodes values for
 * external workflows and decodes theirs, but not Longhaul's own values.
 */
import { ValueError, type Payload, type PayloadCodec } from '@temporalio/common';
import { LonghaulError } from '../../operations/errors.js';
import { givenCodecAuthorization, SettingsError, type Settings } from '../settings/index.js';
import { ProjectModules } from '../project/modules.js';

const DEADLINE_MS = 5_000;
/** Encodings that need no codec. */
const PLAIN: ReadonlySet<string> = new Set([
  'json/plain',
  'json/protobuf',
  'binary/null',
  'binary/plain',
  'binary/protobuf',
  'json/external-storage-reference',
]);

/** @throws SettingsError for a module without a codec */
export async function loadPayloadCodec({
  payloadCodec,
}: Pick<Settings, 'payloadCodec'>): Promise<PayloadCodec | undefined> {
  if (payloadCodec === undefined) return undefined;
  if (/^https?:/.test(payloadCodec)) return codecServer(payloadCodec, givenCodecAuthorization());
  let codec: unknown;
  try {
    codec = ((await new ProjectModules().import(payloadCodec)) as { default?: unknown }).default;
  } catch (error) {
    throw new SettingsError(`payloadCodec: ${payloadCodec} can't be loaded: ${(error as Error).message}`);
  }
  const { encode, decode } = (codec ?? {}) as Partial<PayloadCodec>;
  if (typeof encode !== 'function' || typeof decode !== 'function')
    throw new SettingsError(
      `payloadCodec: expected ${payloadCodec} to export a PayloadCodec as default, an object with encode and decode; got ${typeof codec}`,
    );
  return codec as PayloadCodec;
}

/** The codec for Longhaul's own values: leaves them as they are, and decodes other values among them. */
export function decodingOnly(codec: PayloadCodec): PayloadCodec {
  return {
    encode: (payloads) => Promise.resolve(payloads),
    decode: (payloads, context) =>
      Promise.all(
        payloads.map(async (payload) => {
          if (PLAIN.has(encodingOf(payload))) return payload;
          const [decoded] = await codec.decode([payload], context).catch((error: unknown) => {
            // The SDK's own name for values that it can't read, so that nobody takes it for an error of Temporal.
            throw error instanceof LonghaulError ? error : new ValueError((error as Error).message, error);
          });
          return decoded ?? payload;
        }),
      ),
  };
}

export function encodingOf({ metadata }: Payload): string {
  return Buffer.from(metadata?.['encoding'] ?? []).toString();
}

/** A payload in the JSON of codec servers. */
interface JsonPayload {
  /** Base64. */
  metadata?: Record<string, string>;
  data?: string;
}

/** Temporal's protocol of codec servers: `POST URL/encode` and `URL/decode`. */
function codecServer(url: string, authorization: string | undefined): PayloadCodec {
  const call = async (verb: 'encode' | 'decode', payloads: Payload[]): Promise<Payload[]> => {
    let body: { payloads?: JsonPayload[] };
    try {
      const response = await fetch(`${url.replace(/\/$/, '')}/${verb}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: JSON.stringify({ payloads: payloads.map(toJson) }),
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      if (!response.ok) throw new Error(`it answered with status ${response.status}`);
      body = (await response.json()) as typeof body;
    } catch (error) {
      throw new LonghaulError(
        'unavailable',
        `the codec server ${new URL(url).origin} can't ${verb} values: ${(error as Error).message}`,
        { cause: error },
      );
    }
    if (body.payloads?.length !== payloads.length)
      throw new LonghaulError(
        'unavailable',
        `the codec server ${new URL(url).origin} can't ${verb} values: expected ${payloads.length} payloads; got ${body.payloads?.length ?? 'none'}`,
      );
    return body.payloads.map(fromJson);
  };
  return {
    encode: (payloads) => call('encode', payloads),
    decode: (payloads) => call('decode', payloads),
  };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const entries = Object.entries(metadata ?? {}).map(([key, value]) => [key, base64(value)]);
  return { metadata: Object.fromEntries(entries) as Record<string, string>, data: base64(data) };
}

function fromJson({ metadata = {}, data = '' }: JsonPayload): Payload {
  const entries = Object.entries(metadata).map(([key, value]) => [key, Buffer.from(value, 'base64')]);
  return {
    metadata: Object.fromEntries(entries) as Record<string, Uint8Array>,
    data: Buffer.from(data, 'base64'),
  };
}

function base64(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('base64');
}
