/**
 * The parent: gives each child one aspect of a diff, and merges their findings into one review.
 *
 * node --import jiti/register agents/lead.ts URL '{"review","folder","diff","maxFiles","reviewers"...}'
 */
import { mergeFindings, renderReview } from '../lib/merge.js';
import { ASPECTS, type Finding } from '../lib/review.js';
import { Mailbox, type Message, type WaitOptions, type Wake } from './mailbox.js';
import { Parts, type Part } from './parts.js';
import type { Task } from './task.js';

export interface Assignment extends Omit<Task, 'aspect'> {
  /** Names of the children, one for each aspect. */
  reviewers: string[];
  /** Whether to check all files of a diff with more than `maxFiles`. */
  checkAll: boolean;
  leaseSeconds: number;
  /** How long a part may wait for an agent that takes it, in seconds. */
  patienceSeconds: number;
}

const [url, json] = process.argv.slice(2);
const assignment = JSON.parse(json!) as Assignment;
const { reviewers, checkAll, leaseSeconds, patienceSeconds, ...task } = assignment;
const mailbox = await Mailbox.connect(url!, 'lead', leaseSeconds);
const parts = new Parts(ASPECTS, patienceSeconds);
/** Files that no check has read, by name, with the reason. */
const unchecked = new Map<string, string>();
const say = (line: string) => console.error(line);

let wake = await mailbox.register({ capabilities: [] });
for (const [index, part] of parts.all.entries())
  await give(part, { to: reviewers[index % reviewers.length] });
while (!parts.areDone()) wake = await act(wake);
// The last message is acknowledged by the next call.
if (wake.kind === 'message') await mailbox.wait({ timeoutSeconds: 0.1 }, wake.message.id);
for (const reviewer of reviewers) await mailbox.bye(reviewer);
await mailbox.close();

const findings = mergeFindings(parts.all.flatMap((part) => part.findings ?? []));
const missing = parts.all.filter((part) => !part.findings).map(({ aspect }) => aspect);
console.log(renderReview(findings, missing));
for (const [file, reason] of unchecked) console.log(`${file} was not checked: ${reason}`);
process.exitCode = missing.length > 0 ? 1 : 0;

/** Acts on what ended the last wait. @returns what ends the next one */
async function act(woken: Wake): Promise<Wake> {
  if (woken.kind === 'end') throw new Error('another agent has the name "lead"');
  if (woken.kind === 'message') {
    const answer = await receive(woken.message);
    if (answer) return mailbox.respond(woken.message, answer, waiting());
  }
  if (woken.kind === 'message' || woken.kind === 'operations') await notice(woken.ops);
  for (const part of parts.unclaimed()) await giveAgain(part, 'nobody took it');
  if (parts.areDone()) return woken;
  return mailbox.wait(waiting(), woken.kind === 'message' ? woken.message.id : undefined);
}

/** Until a message comes, an operation ends, or a part has waited too long for an agent. */
function waiting(): WaitOptions {
  return { also: parts.watched(), timeoutSeconds: parts.secondsToNext() };
}

/** @returns a response, for a question */
async function receive({ mode, text, context, re, from }: Message): Promise<object | undefined> {
  if (mode === 'question') {
    say(`${context.aspect}: ${from} asks: ${text} ${checkAll ? 'Yes.' : 'No.'}`);
    parts.watchAgain(context.token);
    return { all: checkAll };
  }
  // An inbox outlives its agents: messages of an earlier review may be in it.
  if (mode === 'started' && context.review === task.review) {
    say(`${context.aspect}: ${from} started ${context.token}`);
    parts.started(context.aspect, context.token);
  }
  const part = re === undefined ? undefined : parts.byMessage(re);
  if (!part || part.findings) return undefined;
  if (mode === 'response') {
    const { findings, skipped, error } = JSON.parse(text);
    if (error) return void fail(part, error);
    say(`${part.aspect}: ${from} has ${findings.length} findings`);
    part.findings = findings;
    for (const { file, reason } of skipped) unchecked.set(file, reason);
  }
  if (mode === 'dead_letter') {
    say(`${part.aspect}: no sign of ${from} for ${leaseSeconds} s`);
    part.isOrphan = true;
    if (part.token === undefined) await giveAgain(part, `${from} did not start it`);
    else if (part.ended !== undefined || part.isAsking) await collect(part);
  }
  return undefined;
}

/** Operations that have ended, or ask. The child that started one sends its findings; without it, the lead reads them. */
async function notice(ops: Record<string, string>): Promise<void> {
  for (const [token, status] of Object.entries(ops)) {
    const part = parts.byToken(token);
    if (!part) continue;
    parts.ended(part, status);
    if (status !== 'input_required') say(`${part.aspect}: its operation is ${status}`);
    if (part.isOrphan && !part.findings) await collect(part);
  }
}

/** Reads the operation of a child that has left, and answers its questions. */
async function collect(part: Part): Promise<void> {
  const { aspect, token } = part;
  const { status, result, error, input_required } = await mailbox.call('operation_get', {
    token,
    view: 'full',
  });
  if (status === 'input_required') {
    for (const key of Object.keys(input_required)) await mailbox.answer(token!, key, { all: checkAll });
    parts.watchAgain(token!);
  } else if (status === 'completed') {
    say(`${aspect}: collected ${result.findings.length} findings of ${token}`);
    part.findings = result.findings as Finding[];
    for (const { file, reason } of result.skipped) unchecked.set(file, reason);
  } else fail(part, error?.message ?? status);
}

function fail(part: Part, why: string): void {
  say(`${part.aspect}: failed: ${why}`);
  part.isMissing = true;
}

/** Once to another child, whichever is free; then the part is missing. */
async function giveAgain(part: Part, why: string): Promise<void> {
  if (part.times >= 2) return fail(part, why);
  say(`${part.aspect}: ${why}; given to another`);
  await give(part, { capability: 'review', who: 'anyone' });
}

async function give(part: Part, recipient: object): Promise<void> {
  const { aspect } = part;
  const content = `Review the aspect ${aspect} of the diff in the context, with review_diff.`;
  const { id } = await mailbox.send(`${task.review}-${aspect}-${part.times}`, content, {
    ...recipient,
    context: { ...task, aspect } satisfies Task,
    reply_to: 'lead',
    // An agent that leaves with it makes it a dead letter, which the lead gets as a message.
    max_deliveries: 1,
    // By then it is given to another agent; one that comes later must not find it.
    ttl_seconds: patienceSeconds,
  });
  parts.given(part, id);
}
