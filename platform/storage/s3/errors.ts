/** Turns S3's answers and connection failures into errors that say what is wrong and whether waiting helps. */
import { StorageError } from '../error.js';

/** Fields of the AWS SDK's errors; each may be missing. */
interface S3Failure extends Error {
  /** Code of S3, or of Node.js for a failed connection. */
  Code?: string;
  code?: string;
  Region?: string;
  $metadata?: { httpStatusCode?: number; attempts?: number };
  $response?: { headers?: Record<string, string> };
}

export interface S3Place {
  name: string;
  bucket: string;
  region: string | undefined;
}

const FULL = new Set([
  'QuotaExceeded',
  'InsufficientStorage',
  'XMinioStorageFull',
  'StorageFull',
  'InsufficientCapacity',
]);
/** Codes of a refusal. versitygw answers the last one, with 404, for an unknown access key. */
const REFUSED = new Set([
  ...['AccessDenied', 'AllAccessDisabled', 'AccountProblem', 'InvalidAccessKeyId', 'SignatureDoesNotMatch'],
  ...['ExpiredToken', 'InvalidToken', 'KMS.DisabledException', 'Unauthorized', 'XAdminUserNotFound'],
]);
const OTHER_REGION = new Set([
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]);

/** HTTP status of the answer; undefined without an answer. */
export function statusOf(error: unknown): number | undefined {
  return (error as S3Failure).$metadata?.httpStatusCode;
}

/** Whether S3 has no object under the key. A HEAD has no body that names the reason. */
export function isMissingKey(error: unknown): boolean {
  const { name } = error as S3Failure;
  return name === 'NoSuchKey' || (name === 'NotFound' && statusOf(error) === 404);
}

/** Number of attempts that the SDK made. */
export function attemptsOf(error: unknown): number {
  return (error as S3Failure).$metadata?.attempts ?? 1;
}

/** Describes a failed request. @param action e.g. `put` */
export function storageError(error: unknown, action: string, place: S3Place): StorageError {
  if (error instanceof StorageError) return error;
  const { retryable, what } = judge(error as S3Failure, place);
  return new StorageError(`storage ${place.name}: ${what} (${action}: ${answerOf(error)})`, {
    retryable,
    cause: error,
  });
}

interface Judgement {
  retryable: boolean;
  what: string;
}

const passing = (what: string): Judgement => ({ retryable: true, what });
const lasting = (what: string): Judgement => ({ retryable: false, what });

function judge(error: S3Failure, { bucket, region }: S3Place): Judgement {
  const code = error.Code ?? error.name;
  const status = statusOf(error);
  if (/region is missing/i.test(error.message))
    return lasting('no region is known; set --storage-region or AWS_REGION');
  if (/credentials|token is expired|sso session/i.test(error.name) || code === 'CredentialsProviderError')
    return lasting("the AWS SDK finds no usable credentials in this process's environment");
  if (code === 'NoSuchBucket') return lasting(`there is no bucket ${bucket}`);
  if (status === 301 || OTHER_REGION.has(code)) {
    const right = error.Region ?? error.$response?.headers?.['x-amz-bucket-region'];
    const other = right === undefined ? 'another region' : `the region ${right}`;
    return lasting(`the bucket is in ${other}, and ${region ?? "the SDK's"} was asked; set --storage-region`);
  }
  if (code === 'RequestTimeTooSkewed') return lasting("this host's clock is wrong");
  if (status === 507 || FULL.has(code)) return passing('the store is full, or over its quota');
  if (status === 401 || status === 403 || REFUSED.has(code))
    return lasting('the store refuses these credentials, or what they ask for');
  if (status === 501) return lasting('the store lacks something that is needed');
  if (status === 429 || status === 503 || code === 'SlowDown') return passing('the store is overloaded');
  if (status === undefined) return passing("the store can't be reached, or does not answer");
  if (status >= 500 || status < 400) return passing('the store has failed');
  return lasting('the store rejects the request');
}

/** The store's own answer: `403 AccessDenied: Access Denied`. */
export function answerOf(error: unknown): string {
  const failure = error as S3Failure;
  const { name, message, code } = failure;
  const status = statusOf(error);
  const isNamed = message && message !== 'UnknownError' && message !== name;
  if (status === undefined) return [code ?? name, ...(isNamed ? [message] : [])].join(': ');
  return `${[status, failure.Code ?? name].join(' ')}${isNamed ? `: ${message}` : ''}`;
}
