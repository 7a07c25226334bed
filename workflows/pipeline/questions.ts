/** Input requests of pipelines. */
import { ApplicationFailure } from '@temporalio/workflow';
import { listed, shortened } from '../../operations/json/counted.js';
import { defined } from '../../operations/json/defined.js';
import type { ChildStatus } from '../../operations/record.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import type { Approval } from '../../pipelines/pipeline.js';
import type { StepFailureDetails } from '../../pipelines/run.js';
import { requestInput } from '../runtime/index.js';

const OUTPUT_CHARACTERS = 1_000;
const SHOWN_LINES = 10;
const SHOWN_STEPS = 10;

/** Asks for an approval, and shows the job's outputs. @returns the fields of the approval's form. @throws ApplicationFailure `Declined` */
export async function awaitApproval(
  job: string,
  step: string,
  { message, fields, approvers, fourEyes }: Approval,
  outputs: Record<string, string>,
): Promise<Record<string, unknown>> {
  const shown = Object.entries(outputs).map(
    ([key, value]) => `${key}: ${shortened(value, OUTPUT_CHARACTERS)}`,
  );
  const question = [`${job} / ${step}: ${message}`, ...(shown.length ? ['', ...shown] : [])].join('\n');
  const declined = () => ApplicationFailure.nonRetryable(`step "${step}" was not approved`, 'Declined');
  const answer = await requestInput(fields ?? YES_OR_NO, question, defined({ approvers, fourEyes }));
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

export type UnknownOutcomeDecision = 'run_again' | 'take_as_done' | 'give_up';

/** Asks what to do with a step whose outcome is unknown. Declining means `give_up`. */
export function askAboutUnknownOutcome(
  where: string,
  why: string,
  trouble: StepFailureDetails | undefined,
): Promise<UnknownOutcomeDecision> {
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

/** A lost host, and the work that it should have done. */
export interface HostQuestion {
  job: string;
  host: string;
  /** The work: `step "compile"`. */
  what: string;
  /** `has not been seen since ...` */
  why: string;
  /** Steps that would run a second time although they aren't idempotent. */
  repeated: string[];
  /** Whether a worker may have begun the work: it continues on a host that is only cut off. */
  mayRun: boolean;
  /** Whether an operator dropped it, so waiting is no option. */
  isDropped: boolean;
}

/** Asks what to do when the host with a job's workspace is lost. Declining means `give_up`. */
export function askAboutHost(question: HostQuestion): Promise<HostDecision> {
  const { job, host, what, why, repeated, mayRun, isDropped } = question;
  const steps = listed(
    repeated.map((step) => `"${step}"`),
    SHOWN_STEPS,
  );
  const message = [
    `The host ${host}, which has the workspace of ${job}, ${why}: ${what} of ${job} can't continue.`,
    `Not idempotent, and run again if the job starts again: ${steps}.`,
    ...(mayRun ? [`If the host is only cut off, ${what} may still run there.`] : []),
  ].join('\n');
  return choose<HostDecision>(message, {
    ...(isDropped ? {} : { wait: 'Wait for the host' }),
    start_job_again: 'Start the job again from its first step, on another host',
    give_up: 'Give up: the step has failed',
  });
}

/** Shows the records as `input_required` until the question is answered. */
export async function withInputRequired<T>(
  records: { status: ChildStatus }[],
  ask: () => Promise<T>,
): Promise<T> {
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
