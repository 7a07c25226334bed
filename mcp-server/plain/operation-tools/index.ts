/** The operation_* tools, by name. */
import { operationAnswer } from './operation_answer.js';
import { operationCancel } from './operation_cancel.js';
import { operationDelete } from './operation_delete.js';
import { operationGet } from './operation_get.js';
import { operationList } from './operation_list.js';
import { operationResume } from './operation_resume.js';
import type { BuiltinTool } from '../builtin-tool.js';

export const operationTools: ReadonlyMap<string, BuiltinTool> = new Map(
  [operationGet, operationAnswer, operationCancel, operationResume, operationList, operationDelete].map(
    (tool) => [tool.name, tool],
  ),
);
