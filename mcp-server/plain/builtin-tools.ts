/** Longhaul's own tools, by name: the operation_* tools, and those of mounted features. */
import type { Guard } from '../guard.js';
import type { Tool } from '../../operations/tool/index.js';
import { unknownTool } from '../../platform/project/tools.js';
import { toolDocumentation, type DocumentTool } from '../listed-tools/listed-tool.js';
import type { RequestCancellation } from '../call/serving.js';
import { builtinToolDocumentation, type BuiltinTool } from './builtin-tool.js';
import { operationAnswer } from './operation-tools/operation_answer.js';
import { operationCancel } from './operation-tools/operation_cancel.js';
import { operationDelete } from './operation-tools/operation_delete.js';
import { operationGet } from './operation-tools/operation_get.js';
import { operationList } from './operation-tools/operation_list.js';
import { operationResume } from './operation-tools/operation_resume.js';

const operationTools: ReadonlyMap<string, BuiltinTool> = new Map(
  [operationGet, operationAnswer, operationCancel, operationResume, operationList, operationDelete].map(
    (tool) => [tool.name, tool],
  ),
);

export function builtinTools({
  mountedTools,
}: Pick<Guard, 'mountedTools'>): ReadonlyMap<string, BuiltinTool> {
  if (mountedTools.length === 0) return operationTools;
  return new Map([...operationTools, ...(mountedTools as [string, BuiltinTool][])]);
}

/** The name of one of the caller's tools. Undefined for any other text. */
export function knownToolName(engine: Guard, name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  return builtinTools(engine).has(name) || engine.tools.get(name) ? name : undefined;
}

interface DocumentationReader {
  document: DocumentTool;
  cancelledBy: RequestCancellation;
  isListed: (tool: Tool) => boolean;
  /** Tools that the client sees, for the error. */
  listedNames: () => string[];
}

/** The whole documentation of a listed tool, whether Longhaul's own or a project's. @throws LonghaulError `unknown_tool` */
export function documentationOf(
  engine: Guard,
  name: string,
  { document, cancelledBy, isListed, listedNames }: DocumentationReader,
): string {
  const own = builtinTools(engine).get(name);
  if (own) return builtinToolDocumentation(own);
  const tool = engine.tool(name, listedNames);
  if (!isListed(tool)) throw unknownTool(name, listedNames());
  return toolDocumentation(tool, document, cancelledBy);
}
