/** operation_get's view `steps`: child workflows, or a pipeline's jobs with their steps, outputs and files. */
import { z } from 'zod';
import { snakeKeys } from '../../../operations/json/snake-keys.js';
import type { PartStatuses } from '../../../operations/wire/meta-keys.js';
import type { OperationRecord, StepRecord } from '../../../operations/record.js';
import { partStatusIn } from '../../../operations/status-names.js';
import { stepReference } from '../../../operations/steps.js';
import { tokenBeside } from '../../../operations/wire/index.js';
import { asData } from '../../call/as-data.js';
import { linkOutput, linkSchema } from '../envelope/schema.js';
import { plainChildStatus, plainStatus } from '../envelope/status.js';
import { artifactLinks } from '../../links/resource-links.js';
import { callText } from './operation-tool.js';

/** Maximum lines of text. The structured content has all. */
const MAX_LINES = 300;
/** Longest output in the text, in characters. */
const MAX_OUTPUT_CHARACTERS = 200;

const step = z.object({
  step: z.string(),
  name: z.string(),
  status: z.string(),
  exit_code: z.number().int().optional(),
  started_at: z.string().optional(),
  closed_at: z.string().optional(),
  logs_of: z.string().optional().describe('Token of the earlier operation.'),
});

/** A part as in the summary, with this view's additional fields. */
export const childSchema = z.object({
  name: z.string(),
  status: z.string(),
  status_message: z.string().optional(),
  item: z.unknown().optional(),
  host: z.string().optional(),
  steps: z.array(step).optional(),
  outputs: z.record(z.string(), z.string()).optional(),
  artifacts: z.array(linkSchema).optional(),
  unsaved_artifacts: z.array(z.object({ path: z.string(), reason: z.string() })).optional(),
});

export type ChildOutput = z.output<typeof childSchema>;

export function childrenOutput(record: OperationRecord): ChildOutput[] {
  const { children = [] } = record;
  return children.map(({ name, status, statusMessage, item, host, steps, outputs, ...child }) => ({
    ...snakeKeys({ name, statusMessage, item, host, outputs, unsavedArtifacts: child.unsavedArtifacts }),
    status: plainChildStatus(status, record),
    steps: steps.map((one, index) => ({
      step: stepReference({ child: name, position: index + 1 }),
      ...stepOutput(one, record),
    })),
    artifacts: child.artifacts && artifactLinks(record, [child]).map(linkOutput),
  }));
}

/** The record's own statuses, in the order of {@link childrenOutput}. */
export function partStatuses({ status: ofOperation, children = [] }: OperationRecord): PartStatuses[] {
  return children.map(({ status, steps }) => ({
    status: partStatusIn(ofOperation, status),
    steps: steps.map((step) => partStatusIn(ofOperation, step.status)),
  }));
}

function stepOutput(
  { name, status, exitCode, startedAt, closedAt, logsOf }: StepRecord,
  record: OperationRecord,
) {
  return {
    ...snakeKeys({ name, exitCode, startedAt, closedAt }),
    status: plainChildStatus(status, record),
    logs_of: logsOf && tokenBeside(record, logsOf),
  };
}

export function stepsText(record: OperationRecord, children: ChildOutput[], isKnown: boolean): string {
  const { token, closedAt } = record;
  if (children.length === 0) {
    const operation = `${record.tool} (${plainStatus(record)})`;
    if (isKnown) return `${operation} has no steps: only pipelines and tools with child workflows have them.`;
    return closedAt === undefined
      ? `${operation}: no worker is available, so its steps aren't known. Try again shortly.`
      : `${operation}: the list of its steps can't be read from storage.`;
  }
  const lines = children.flatMap(childLines);
  const more = lines.length - MAX_LINES;
  const withSteps = children.find(({ steps = [] }) => steps.length > 0);
  return [
    `${record.tool}: ${children.length} ${withSteps ? 'jobs' : 'parts'}`,
    asData(lines.slice(0, MAX_LINES).join('\n')),
    ...(more > 0 ? [`${more} more lines are in the structured content.`] : []),
    ...(withSteps
      ? ['', `Log of a step: ${callText('operation_get', { token, view: 'logs', step: withSteps.name })}`]
      : []),
  ].join('\n');
}

function childLines(child: ChildOutput) {
  const { name, status, status_message, steps = [], outputs = {} } = child;
  const { artifacts = [], unsaved_artifacts: unsaved = [] } = child;
  return [
    `${name}: ${status}${status_message === undefined ? '' : `, ${status_message}`}`,
    ...steps.map(
      (one) =>
        `  ${one.step} ${JSON.stringify(one.name)}: ${one.status}${one.exit_code ? `, exit code ${one.exit_code}` : ''}`,
    ),
    ...Object.entries(outputs).map(([key, value]) => `  output ${key}: ${shortened(value)}`),
    ...artifacts.map(({ uri, bytes }) => `  file ${uri} (${bytes} bytes)`),
    ...unsaved.map(({ path, reason }) => `  not saved: ${JSON.stringify(path)} ${reason}`),
  ];
}

function shortened(value: string): string {
  const text = JSON.stringify(value);
  return text.length > MAX_OUTPUT_CHARACTERS ? `${text.slice(0, MAX_OUTPUT_CHARACTERS)}...` : text;
}
