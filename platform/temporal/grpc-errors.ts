/** Classifies errors of calls to Temporal by gRPC status code. */
import { isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import { Reader } from 'protobufjs/minimal.js';
import { timestampMs } from './time.js';

export const GRPC = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/** Whether an error or one of its causes has one of these gRPC status codes. */
export function isGrpcError(error: unknown, ...codes: number[]): boolean {
  return causesOf(error).some((cause) => isGrpcServiceError(cause) && codes.includes(cause.code));
}

/** Whether the credentials don't allow the call. */
export function isDenied(error: unknown): boolean {
  return isGrpcError(error, GRPC.permissionDenied, GRPC.unauthenticated);
}

/** Whether Temporal was unreachable or didn't answer in time. */
export function isUnreachable(error: unknown): boolean {
  return causesOf(error).some(
    (cause) =>
      (isGrpcServiceError(cause) &&
        ([GRPC.deadlineExceeded, GRPC.unavailable, GRPC.cancelled] as number[]).includes(cause.code)) ||
      /transport error|tcp connect error|Timeout expired/i.test(cause.message ?? ''),
  );
}

/** Whether Temporal refused a call because of a rate limit. */
export function isThrottled(error: unknown): boolean {
  // Messages larger than gRPC allows have the same status code.
  return isGrpcError(error, GRPC.resourceExhausted) && !/larger than max/.test(temporalMessage(error));
}

/** Whether the same call may succeed later: the status codes that Temporal's SDKs retry. */
export function isTransient(error: unknown): boolean {
  return isGrpcError(error, GRPC.aborted, GRPC.unknown, GRPC.internal, GRPC.outOfRange, GRPC.dataLoss);
}

/** Metadata key of a `google.rpc.Status`. */
const STATUS_DETAILS = 'grpc-status-details-bin';
const RETRY_INFO = 'google.rpc.RetryInfo';

/**
 * The server's pause before the next attempt (`google.rpc.RetryInfo`), in milliseconds, if any. Comes only after the SDK's own
 * retries, about 15 s after the call.
 */
export function retryDelayMs(error: unknown): number | undefined {
  const cause = causesOf(error).find(isGrpcServiceError);
  const [encoded] = cause?.metadata?.get(STATUS_DETAILS) ?? [];
  if (!Buffer.isBuffer(encoded)) return undefined;
  try {
    const { details } = proto.google.rpc.Status.decode(encoded);
    const info = details.find(({ type_url: type }) => type?.endsWith(`/${RETRY_INFO}`));
    if (!info?.value) return undefined;
    const reader = Reader.create(info.value);
    // The message's only field: retry_delay = 1, length-delimited.
    if (reader.uint32() !== ((1 << 3) | 2)) return undefined;
    return timestampMs(proto.google.protobuf.Duration.decode(reader, reader.uint32()));
  } catch {
    return undefined;
  }
}

/** Temporal's own message: the innermost cause's. */
export function temporalMessage(error: unknown): string {
  return causesOf(error).at(-1)?.message ?? String(error);
}

/** An error and its causes, outermost first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  // Errors of Node's core aren't instances of Error in every realm.
  for (let at = error; typeof at === 'object' && at !== null && causes.length < 20; at = (at as Error).cause)
    causes.push(at as Error);
  return causes;
}
