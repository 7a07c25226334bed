/** The package's main entry: defining tools and settings. */
export {
  defineTool,
  type DescriptionParts,
  type Tool,
  type ToolInput,
  type ToolOptions,
  type ToolOutput,
} from './operations/tool/index.js';
export { LonghaulError, type ErrorKind, type OperationError } from './operations/errors.js';
export type { AnySchema, Infer, JsonSchema } from './operations/tool/schema.js';
export type {
  Answer,
  InputRequest,
  OperationRecord,
  OperationStatus,
  Progress,
} from './operations/record.js';
export { defineConfig, type LonghaulConfig } from './platform/settings/define-config.js';
