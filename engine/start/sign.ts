/** Signed starts for Temporal's own command line, UI or schedules: what a server would start, and its signature. Connects to nothing. */
import { answerDigest } from '../../operations/answers.js';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../../operations/tool/budgets.js';
import { LonghaulError } from '../../operations/errors.js';
import type { Answer } from '../../operations/record.js';
import { digestOf, assertClientToken, newToken, workflowIdOf } from '../../operations/token.js';
import { assertScheduleTimes, type ScheduleTimes } from '../../operations/tool/schedule-times.js';
import type { Tool } from '../../operations/tool/index.js';
import {
  START_MEMO,
  SEARCH_ATTRIBUTES,
  type ProvidedInput,
  type StartMemo,
} from '../../operations/wire/index.js';
import { Signer } from '../../platform/temporal/signer.js';
import { checkArguments } from './arguments.js';
import { executionTimeoutMs, memoOfTool } from './index.js';
import { summaryOf } from './summary.js';

export interface SignRequest {
  principal: string;
  /** Token of the operation. Default: random. A scheduled run's token is `<token>-<time>`. */
  token?: string;
  times?: ScheduleTimes;
  searchAttributes: boolean;
}

export interface SignedStart {
  workflowType: string;
  /** Without the time that Temporal adds for a schedule. */
  workflowId: string;
  input: unknown;
  memo: Record<string, unknown>;
  searchAttributes: Record<string, string>;
  executionTimeoutSeconds: number;
  taskTimeoutSeconds: number;
  summary: string;
}

/** @throws LonghaulError `invalid_arguments`, `too_large` */
export function signStart(
  tool: Tool,
  args: unknown,
  { principal, token = newToken(), times, searchAttributes }: SignRequest,
  secret: Buffer,
): SignedStart {
  assertClientToken(token);
  if (times) assertScheduleTimes(times);
  if (tool.external)
    throw new LonghaulError(
      'invalid_arguments',
      `"${tool.name}" runs an external workflow, which needs no signature: start it as usual, and adopt it`,
    );
  const checked = checkArguments(tool, args);
  const workflowId = workflowIdOf(principal, token, secret);
  const [input] = tool.toWorkflowArguments(checked);
  const memo: StartMemo = {
    ...memoOfTool(tool),
    principal,
    argumentsDigest: digestOf(tool.name, checked, secret),
    keepAliveSeconds: tool.keepAliveSeconds,
    searchAttributes,
  };
  const start = { workflowType: tool.workflow, memo, args: [input] };
  return {
    workflowType: tool.workflow,
    workflowId,
    input,
    memo: { [START_MEMO]: new Signer(secret).signedMemo(workflowId, start, times) },
    searchAttributes: searchAttributes
      ? {
          [SEARCH_ATTRIBUTES.principal]: principal,
          [SEARCH_ATTRIBUTES.tool]: tool.name,
        }
      : {},
    executionTimeoutSeconds: executionTimeoutMs(memo) / 1000,
    taskTimeoutSeconds: WORKFLOW_TASK_TIMEOUT_MS / 1000,
    summary: summaryOf(tool, checked),
  };
}

/** An operator's answer, for the workflow's update `provide_input`. */
export function signAnswer(
  { principal, token }: { principal: string; token: string },
  key: string,
  answer: Answer,
  secret: Buffer,
): { workflowId: string; input: ProvidedInput } {
  const workflowId = workflowIdOf(principal, token, secret);
  const by = { operator: true } as const;
  const signer = new Signer(secret);
  const input = { key, answerId: signer.answerId(workflowId, key, [by, answer]), answer, by };
  const signature = signer.sign('answer', workflowId, answerDigest(input));
  return { workflowId, input: { ...input, signature } };
}
