import { z } from 'zod';
import type { Guard } from '../../guard.js';
import { snakeKeys } from '../../../operations/json/snake-keys.js';
import { PAGE_LINES } from '../../../operations/wire/log-page.js';
import { PARTS_META_KEY, STATUS_META_KEY } from '../../../operations/wire/meta-keys.js';
import type { AnsweredRequest, OperationRecord } from '../../../operations/record.js';
import type { Tool } from '../../../operations/tool/index.js';
import type { CallContext } from '../../call/call-context.js';
import { answerOf, envelopeOf, envelopeSchema, withParts } from '../envelope/index.js';
import { asData } from '../../call/as-data.js';
import { isOver, plainStatus } from '../envelope/status.js';
import { artifactLinks } from '../../links/resource-links.js';
import {
  assertPartialReadable,
  failureText,
  partialLink,
  renderFailure,
  renderResult,
  resultText,
} from '../../call/results.js';
import { LONGEST_WAIT_SECONDS, waitFor, type WaitResult } from '../wait.js';
import { logArguments, logOutput, logPageSchema, logText } from './log-view.js';
import { refuse, token, defineOperationTool, type ToolAnswer } from './operation-tool.js';
import { childrenOutput, childSchema, partStatuses, stepsText } from './steps-view.js';

/** Default of `timeout`, in seconds. */
const DEFAULT_WAIT_SECONDS = 60;
/** Longest partial result in the text, in characters. */
const PARTIAL_CHARACTERS = 16_000;
const MAX_LINKS = 50;

const input = z.strictObject({
  token,
  view: z.enum(['summary', 'full', 'steps', 'logs', 'result', 'partial']).default('summary'),
  wait: z.boolean().default(false).describe('Wait until it ends or asks a question.'),
  timeout: z
    .number()
    .gt(0)
    .max(LONGEST_WAIT_SECONDS)
    .default(DEFAULT_WAIT_SECONDS)
    .describe('Longest wait, in seconds.'),
  ...logArguments,
});

const output = envelopeSchema.extend({
  children: z.array(childSchema).optional().describe('Jobs of a pipeline, or child workflows.'),
  is_live: z.boolean().optional().describe('False: no worker was available; steps may be missing.'),
  answers: z
    .array(
      z.object({
        key: z.string(),
        id: z.string().optional(),
        action: z.string(),
        state: z.string().describe('applied, refused or queued.'),
        reason: z.string().optional(),
        is_default: z.literal(true).optional().describe('No answer came in time.'),
        by: z.looseObject({}).optional().describe('{principal, roles}, or {operator: true}.'),
        at: z.string(),
      }),
    )
    .optional()
    .describe('Latest last.'),
  log: logPageSchema.optional().describe('{step, lines: [{number, text}], cursor, is_at_end, is_complete}'),
});

type Input = z.output<typeof input>;
type Answer = ToolAnswer<z.output<typeof output>>;

interface ViewContext {
  engine: Guard;
  args: Input;
  record: OperationRecord;
  tool: Tool | undefined;
  /** Why the wait ended. Undefined without a wait. */
  reason: WaitResult['reason'] | undefined;
}

export const operationGet = defineOperationTool({
  name: 'get',
  title: 'Get an operation',
  description: [
    'Returns the state of an operation, and changes nothing. Repeat it each next_action.check_after_seconds until next_action is missing; a wait that ends cancels nothing.',
    'Statuses: queued, running, input_required (operation_answer); final: completed, failed, cancelled, errored (timed out), expired.',
    'Views: summary: status, message, and the question or the result. full: all fields: progress, parts, times, answers. steps: jobs and steps of a pipeline, outputs, files; with step "test[0-249]", the items of that page.',
    `logs: log of a step, or of the operation, while it runs and after: at most ${PAGE_LINES} lines or 16 KiB a page; after a failure, tail 50. result: the result alone. partial: the partial result.`,
    'Clients that declare experimental.asyncTools or experimental.twoStage poll by methods instead.',
  ].join('\n'),
  annotations: { readOnlyHint: true, openWorldHint: false },
  input,
  output,
  async run(engine, callContext, args) {
    assertArgumentsOfView(args);
    const { record, reason } = await readOrWait(engine, callContext, args);
    if (reason === 'question' && callContext.questions?.kind === 'result') return { question: record };
    return VIEWS[args.view]({
      engine,
      args,
      record,
      tool: engine.tools.get(record.tool),
      reason,
    });
  },
});

/** @throws LonghaulError `invalid_arguments` for arguments of another view */
function assertArgumentsOfView({ view, ...args }: Input): void {
  if (view === 'logs') return;
  for (const name of Object.keys(logArguments) as (keyof typeof logArguments)[]) {
    if (args[name] !== undefined && !(view === 'steps' && name === 'step'))
      refuse(
        `arguments.${name}: belongs to the view logs; expected view "logs" or no ${name}; got view "${view}"`,
      );
  }
}

async function readOrWait(
  engine: Guard,
  callContext: CallContext,
  args: Input,
): Promise<{ record: OperationRecord; reason?: WaitResult['reason'] }> {
  const { token, wait, timeout } = args;
  if (wait)
    callContext.onContinuation?.({
      tool: 'operation_get',
      args,
      timeoutArgument: 'timeout',
      timeoutSeconds: timeout,
    });
  const record = await engine.read(token);
  return wait && !isOver(plainStatus(record)) ? waitFor(engine, record, timeout, callContext) : { record };
}

const VIEWS: Record<Input['view'], (context: ViewContext) => Promise<Answer>> = {
  summary({ record, tool, reason }) {
    const answer: Answer = answerOf(record, { tool, reason, isPoll: true });
    return Promise.resolve(
      record.answers && record.closedAt !== undefined ? withAnswers(answer, record.answers) : answer,
    );
  },

  async full({ engine, record, ...context }) {
    // At a shutdown the workflow isn't queried, since the worker may be stopping too.
    const whole = context.reason === 'stopping' ? record : await withParts(engine, record, context.tool);
    const { answers = [] } = record;
    const output = {
      ...envelopeOf(whole, context),
      ...(answers.length ? { answers: answers.map(snakeKeys) } : {}),
    };
    return {
      output,
      text: asData(JSON.stringify(output)),
      extraContent: answerOf(record, context).extraContent,
    };
  },

  async steps({ engine, record, args, ...context }) {
    const { step: page } = args;
    const whole = await engine.readLive(record.token);
    const live = page === undefined ? whole : { ...whole, children: await engine.readPage(whole, page) };
    const isLive = (live.live || live.closedAt !== undefined) && !live.areChildrenLarge;
    const children = childrenOutput(live);
    // The others belong to other views.
    const {
      children: _children,
      result: _result,
      links: _links,
      partial: _partial,
      ...envelope
    } = envelopeOf(live, context);
    return {
      output: { ...envelope, is_live: isLive, ...(children.length ? { children } : {}) },
      text: stepsText(live, children, isLive),
      extraContent: artifactLinks(live).slice(0, MAX_LINKS),
      meta: { [STATUS_META_KEY]: live.status, [PARTS_META_KEY]: partStatuses(live) },
    };
  },

  async logs({ engine, record, args, ...context }) {
    const { token, step, tail, pattern, cursor, from_line, to_line } = args;
    const page = await engine.logs(token, {
      step,
      tail,
      pattern,
      cursor,
      fromLine: from_line,
      toLine: to_line,
    });
    const { status } = answerOf(record, context).output;
    const log = logOutput(page, record);
    return { output: { status, log }, text: logText(token, log, tail) };
  },

  async result({ record, ...context }) {
    const answer = answerOf(record, { ...context, isPoll: true });
    if (!isOver(plainStatus(record))) return answer;
    const { content, isError } =
      record.status === 'completed' ? renderResult(record, context.tool) : renderFailure(record);
    const [, ...extraContent] = content;
    return {
      output: answer.output,
      text: record.status === 'completed' ? asData(resultText(record, context.tool)) : failureText(record),
      extraContent,
      isError: isError ?? false,
    };
  },

  async partial({ engine, record, ...context }) {
    const whole = await engine.readPartial(record.token);
    assertPartialReadable(whole);
    const { status, partial } = envelopeOf(whole, context);
    const link = partialLink(whole);
    return {
      output: { status, partial },
      text: partialText(whole, link !== undefined),
      extraContent: link ? [link] : [],
    };
  },
};

/** Adds the answered questions. The text mentions only those that took their default. */
function withAnswers({ output, text, ...answer }: Answer, answers: AnsweredRequest[]): Answer {
  const defaults = answers.flatMap(({ key, isDefault }) => (isDefault ? [key] : []));
  return {
    ...answer,
    output: { ...output, answers: answers.map(snakeKeys) },
    text: defaults.length
      ? `${text}\n\nNo answer came in time, so the default was used: ${defaults.join(', ')}.`
      : text,
  };
}

function partialText({ tool, status, partial }: OperationRecord, isLinked: boolean): string {
  if (partial === undefined) return `${tool} (${status}): there is no partial result yet.`;
  const text = JSON.stringify(partial, null, 2);
  const bytes = Buffer.byteLength(text);
  const short =
    text.length > PARTIAL_CHARACTERS
      ? `${text.slice(0, PARTIAL_CHARACTERS)}... (${bytes} bytes in all)`
      : text;
  const where = isLinked ? ' (its beginning; all of it at the link)' : '';
  return [`${tool} (${status}): partial result${where}.`, asData(short)].join('\n');
}
