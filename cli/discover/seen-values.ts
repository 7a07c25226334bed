/** Lists of payloads in histories, such as arguments of runs: their number, and the types of JSON payloads. */
import type { Payload } from '@temporalio/common';
import { addExample, emptyShape, type Shape } from './shape.js';

const NULL_ENCODING = 'binary/null';

/** The value of a payload, or the encoding that isn't JSON. */
export type Decoded = { value: unknown; encoding?: string } | { encoding: string };

/** Decodes only plain JSON and null: codecs, such as for encryption, belong to the namespace. */
export function decodePayload({ metadata, data }: Payload): Decoded {
  const encoding = text(metadata?.['encoding']);
  if (encoding === NULL_ENCODING) return { value: null };
  const name = encoding || 'an unknown encoding';
  if (!/^json\/(plain|protobuf)$/.test(encoding)) return { encoding: name };
  try {
    const value: unknown = JSON.parse(text(data));
    const message = text(metadata?.['messageType']);
    return encoding === 'json/plain' ? { value } : { value, encoding: `${name} ${message}`.trim() };
  } catch {
    return { encoding: `${name} that is no JSON` };
  }
}

/** Values at the places of a list. */
export class SeenValues {
  /** Number of lists. */
  count = 0;
  /** Least and greatest length of a list. */
  least = Infinity;
  most = 0;
  readonly shapes: Shape[] = [];
  /** Encodings other than plain JSON, by place. */
  readonly encodings: Set<string>[] = [];

  add(payloads: Payload[] | null | undefined): void {
    const values = payloads ?? [];
    this.count += 1;
    this.least = Math.min(this.least, values.length);
    this.most = Math.max(this.most, values.length);
    for (const [place, payload] of values.entries()) {
      const shape = (this.shapes[place] ??= emptyShape());
      const encodings = (this.encodings[place] ??= new Set());
      const decoded = decodePayload(payload);
      if (decoded.encoding !== undefined) encodings.add(decoded.encoding);
      if ('value' in decoded) addExample(shape, decoded.value);
    }
  }
}

function text(bytes: Uint8Array | null | undefined): string {
  return bytes ? new TextDecoder().decode(bytes) : '';
}
