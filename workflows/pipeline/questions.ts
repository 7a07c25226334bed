/** What a pipeline asks people. */
import { ApplicationFailure } from '@temporalio/workflow';
import type { ChildStatus } from '../../operations/record.js';
import type { JsonSchema } from '../../operations/schema.js';
import type { Approval } from '../../pipelines/pipeline.js';
import type { StepTrouble } from '../../pipelines/run.js';
import { requestInput } from '../runtime/index.js';

/** How much of each output a question shows, in characters. */
const OUTPUT_CHARACTERS = 1_000;
/** How many of the last lines of a log a question shows. */
const SHOWN_LINES = 10;
/** How many steps a question names. */
const SHOWN_STEPS = 10;

/**
 * Asks for an approval.
 *
 * @param outputs of the job so far, which the question shows
 * @returns what the form was filled in with
 * @throws ApplicationFailure `Declined`
 */
export async function awaitApproval(
  job: string,
  step: string,
  { message, fields }: Approval,
  outputs: Record<string, string>,
): Promise<Record<string, unknown>> {
  const shown = Object.entries(outputs).map(([key, value]) => `${key}: ${shortened(value)}`);
  const question = [`${job} / ${step}: ${message}`, ...(shown.length ? ['', ...shown] : [])].join('\n');
  const declined = () => ApplicationFailure.nonRetryable(`step "${step}" was not approved`, 'Declined');
  const answer = await requestInput(fields ?? YES_OR_NO, question);
  if (answer.action === 'decline') throw declined();
  const content = answer.content;
  if (fields) return content;
  if (content['approve'] !== true) throw declined();
  return {};
}

const YES_OR_NO: JsonSchema = {
  type: 'object',
  properties: { approve: { type: 'boolean', title: 'Approve?', default: true } },
  required: ['approve'],
};

export type DoubtDecision = 'run_again' | 'take_as_done' | 'give_up';

/** Asks what to do with a step whose end nobody knows. Who declines gives up. */
export function askAboutDoubt(
  where: string,
  why: string,
  trouble: StepTrouble | undefined,
): Promise<DoubtDecision> {
  const lines = trouble?.lastLines.slice(-SHOWN_LINES) ?? [];
  const log = lines.length
    ? `The last lines of its log, as far as its worker had them:\n${lines.join('\n')}`
    : 'Its worker had got no output of it.';
  return choose(`Is ${where} done? ${why}.\n${log}`, {
    run_again: 'Run it again',
    take_as_done: 'Take it as done',
    give_up: 'Give up: the step has failed',
  });
}

export type HostDecision = 'wait' | 'start_job_again' | 'give_up';

/** What is to be decided about a host. */
export interface HostQuestion {
  job: string;
  host: string;
  /** What it doesn't do: `step "compile"`. */
  what: string;
  /** `has not been seen since ...` */
  why: string;
  /** Steps that would run a second time although they aren't idempotent. */
  repeated: string[];
  /** Is there no point in waiting? */
  isDropped: boolean;
}

/** Asks what to do when the host with a job's workspace is lost. Who declines gives up. */
export function askAboutHost(question: HostQuestion): Promise<HostDecision> {
  const { job, host, what, why, repeated, isDropped } = question;
  const named = repeated.slice(0, SHOWN_STEPS).map((step) => `"${step}"`);
  const others = repeated.length > SHOWN_STEPS ? ` and ${repeated.length - SHOWN_STEPS} more` : '';
  const message = [
    `The host ${host}, which has the workspace of ${job}, ${why}: ${what} of ${job} can't continue.`,
    `Not idempotent, and run again if the job starts again: ${named.join(', ')}${others}.`,
  ].join('\n');
  return choose<HostDecision>(message, {
    ...(isDropped ? {} : { wait: 'Wait for the host' }),
    start_job_again: 'Start the job again from its first step, on another host',
    give_up: 'Give up: the step has failed',
  });
}

/** Shows that a question is open, in the records of the job and the step, until it is answered. */
export async function asking<T>(records: { status: ChildStatus }[], ask: () => Promise<T>): Promise<T> {
  for (const record of records) record.status = 'input_required';
  const answer = await ask();
  for (const record of records) record.status = 'working';
  return answer;
}

async function choose<D extends string>(
  message: string,
  choices: Partial<Record<D | 'give_up', string>>,
): Promise<D> {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      decision: {
        type: 'string',
        title: 'What now?',
        oneOf: Object.entries<string | undefined>(choices).map(([value, title]) => ({ const: value, title })),
      },
    },
    required: ['decision'],
  };
  const answer = await requestInput(schema, message);
  return (answer.action === 'decline' ? 'give_up' : (answer.content as { decision: D }).decision) as D;
}

function shortened(text: string): string {
  return text.length > OUTPUT_CHARACTERS
    ? `${text.slice(0, OUTPUT_CHARACTERS)} ... (${text.length} characters)`
    : text;
}
