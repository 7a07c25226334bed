/** A payload codec: each payload, as its bytes in reverse. */
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;
const ENCODING = 'binary/reversed';

const codec: PayloadCodec = {
  encode: (payloads) =>
    Promise.resolve(
      payloads.map((payload) => ({
        metadata: { encoding: Buffer.from(ENCODING) },
        data: PayloadMessage.encode(payload).finish().slice().reverse(),
      })),
    ),
  decode: (payloads) =>
    Promise.resolve(
      payloads.map((payload): Payload => {
        if (Buffer.from(payload.metadata?.['encoding'] ?? []).toString() !== ENCODING) return payload;
        return PayloadMessage.decode(Uint8Array.from(payload.data!).reverse());
      }),
    ),
};
export default codec;
