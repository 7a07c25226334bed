/**
 * Private door to @temporalio/common, seen in 1.24.0: encoding and decoding of payloads and failures through codecs, converters and
 * external storage, as the SDK's own client and worker do it. Descriptions, lists and raw histories come encoded, and an activity's
 * outcome that Longhaul reports itself goes out encoded; the package exports the parts, not the functions that apply them.
 */
export {
  decodeArrayFromPayloads,
  decodeMapFromPayloads,
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
