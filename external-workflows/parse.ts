/** Parses and checks the file of a tool over an external workflow, and reports every problem with its place. */
import { readFileSync, statSync } from 'node:fs';
import { clientFindings } from '../operations/documentation/gaps.js';
import { LonghaulError } from '../operations/errors.js';
import type { Tool } from '../operations/tool/index.js';
import { reportIssues, type Hints } from '../pipelines/yaml/issues.js';
import { MAX_FILE_BYTES } from '../pipelines/yaml/yaml-data.js';
import {
  parseYamlFile,
  readYamlFile,
  defaultToolName,
  type ParsedFile,
} from '../pipelines/yaml/yaml-file.js';
import { checkToolFile } from './checks.js';
import { toolFile, LEVELS } from './schema.js';
import { toolService, type ToolService } from './service.js';
import { externalTool } from './tool.js';
import { didYouMean } from '../operations/json/near-names.js';
import { CUT_OFF } from '../pipelines/yaml/hints.js';
import type { KeyPath } from '../pipelines/yaml/problems.js';

/** Parses and checks a tool or service. @param text in UTF-8, if bytes @param path for problems; its last part is the default tool name */
export function parseTool(text: string | Uint8Array, path: string): ParsedFile<Tool | ToolService> {
  return parseYamlFile<Tool | ToolService>(text, path, (data, report) => {
    const parsed = toolFile.safeParse(data.value);
    if (!parsed.success) reportIssues(data.value, parsed.error.issues, report, TOOL_FILE_HINTS);
    checkToolFile(data.value, report);
    const fileName = defaultToolName(data.value, path, report);
    if (!parsed.success || (!parsed.data.workflow && !parsed.data.nexus)) return undefined;
    if (parsed.data.nexus && parsed.data.nexus.operation === undefined) return () => toolService(parsed.data);
    try {
      const tool = externalTool(parsed.data, parsed.data.name ?? fileName);
      return (reportGap, reportFinding) => {
        for (const { path: keys, message } of clientFindings(tool.inputSchema))
          reportFinding(['input', ...keys], message, 'key');
        for (const { field, expected } of tool.gaps) {
          const path = GAP_KEYS[field] ?? field.split('.');
          reportGap(path, `missing; expected ${expected}`);
        }
        return tool;
      };
    } catch (error) {
      // The tool's own checks refuse its schemas: each line names a field.
      if (!(error instanceof LonghaulError)) throw error;
      for (const line of error.message.split('\n')) report([], line);
      return undefined;
    }
  });
}

const GAP_KEYS: Partial<Record<string, string[]>> = {
  deadlineSeconds: ['timeout-minutes'],
  estimate: ['estimate-minutes'],
};

/** Whether a YAML file is a tool's and not a pipeline's: it has the key `workflow` or `nexus`, and no `jobs`. */
export function isToolFile(path: string): boolean {
  try {
    const found = statSync(path);
    // Reading a pipe or device might block forever.
    if (!found.isFile() || found.size > MAX_FILE_BYTES) return false;
    const text = readFileSync(path, 'utf8');
    return /^["']?(workflow|nexus)["']?\s*:/m.test(text) && !/^["']?jobs["']?\s*:/m.test(text);
  } catch {
    return false;
  }
}

/** Reads and parses a file. An unreadable file gives a problem. */
export function parseToolFile(path: string): ParsedFile<Tool | ToolService> {
  return readYamlFile(path, parseTool);
}

const TOOL_FILE_HINTS: Hints = { ofKey: insteadOf, ofValue: () => undefined };

/** Keys of pipelines and of tools in code that people may try here. */
const ELSEWHERE: Partial<Record<string, string>> = {
  jobs: 'pipelines have jobs; their files belong in pipelines/',
  inputs: 'write `input`',
  outputs: 'write `output`',
  arguments: 'write `args`',
  'task-queue': 'put it under `workflow`',
  taskQueue: 'put it under `workflow`, as `task-queue`',
  type: 'put it under `workflow`',
  namespace: 'put it under `workflow`',
  signal: 'put it under `cancel`, or under `question.answer`',
  schema: 'write `fields`',
};

function insteadOf(path: KeyPath, key: string, value: unknown): string {
  if (value === null) return CUT_OFF;
  const known = Object.keys(LEVELS[path.join('.')]?.shape ?? {});
  if (known.length === 0) return 'expected a keyword of JSON Schema';
  const near = didYouMean(key, known);
  if (near !== '') return `known are ${known.join(', ')}${near}`;
  return ELSEWHERE[key] ?? `known are ${known.join(', ')}`;
}
