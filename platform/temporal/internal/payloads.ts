/**
 * Private door to @temporalio/common, seen in 1.24.0: encodes and decodes payloads and failures through codecs, converters and
 * external storage, like the SDK's own client and worker. Descriptions, lists and raw histories come encoded, and activity
 * outcomes that Longhaul reports itself go out encoded. The package exports the parts, but not these functions.
 */
export {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
  encodeErrorToFailure,
  encodeToPayloads,
  ExternalStorageRunner,
  extstoreStoreOptions,
  loadDataConverter,
  visit,
  walkRespondActivityTaskCompletedRequest,
  walkRespondActivityTaskFailedRequest,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
