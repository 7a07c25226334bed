/** The commands that fast-check draws sequences of, and the end of each sequence. */
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { GivenAnswer, ProtocolClient } from '../support/protocols/index.js';
import * as actions from './actions.js';
import type { Call, Model, Operation, Sending } from './actions.js';
import { newFacts, Violation, type Plan } from './facts.js';

/** How long an operation may take until it asks, in milliseconds. */
const ASKS_LIMIT_MS = 60_000;
/** How long an operation may take to its end once all of its questions are answered, in milliseconds. */
const END_LIMIT_MS = 120_000;
const LOOK_MS = 100;

export interface Real {
  clients: ProtocolClient[];
  signal: actions.SendSignal;
  /** Missing if the worker serves others too. */
  worker?: WorkerControl;
  /** Number of calls so far, by name. */
  counts: Record<string, number>;
}

/** The worker, as a sequence does without it. */
export interface WorkerControl {
  /** @param signal SIGSTOP: it keeps its connections, and the workflow task that it is given next */
  end(signal: 'SIGSTOP' | 'SIGKILL'): Promise<void>;
  begin(): void;
}

/** A call about an operation that the sequence has begun. Operation and client are positions, taken modulo their number. */
interface Drawn {
  client: number;
  operation: number;
  lostAfterMs?: number | undefined;
  verb: Verb;
}

type Verb =
  | { name: 'start again' | 'start with other arguments' | 'read' | 'cancel' | 'resume' }
  | { name: 'wait'; seconds: number }
  | { name: 'answer'; question: number; given: GivenAnswer }
  | { name: 'signal'; question: number; value: number }
  | { name: 'forge'; question: number; forged: actions.Forged };

type Command = fc.AsyncCommand<Model, Real, false>;

const at = <T>(list: T[], position: number): T => list[position % list.length]!;

/** Operation that a drawn call is about: calls that need a token take one that has it. */
function operationOf({ operations }: Model, { operation, verb }: Drawn): Operation | undefined {
  const possible = operations.filter(({ token, key }) => {
    if (verb.name === 'start again') return key !== undefined;
    if (verb.name === 'start with other arguments') return key !== undefined && token !== undefined;
    return token !== undefined;
  });
  return possible.length ? at(possible, operation) : undefined;
}

/** Client of a drawn call: the next one that has the verb. */
function clientOf({ clients }: Real, { client, verb }: Drawn): ProtocolClient {
  const able = clients.filter(
    (one) => (verb.name !== 'resume' || 'resume' in one) && (verb.name !== 'wait' || 'wait' in one),
  );
  return at(able, client);
}

function callOf(
  model: Model,
  real: Real,
  drawn: Drawn,
  { isRacing, operation = operationOf(model, drawn)! }: { isRacing: boolean; operation?: Operation },
): Call {
  const client = clientOf(real, drawn);
  const { verb, lostAfterMs } = drawn;
  const sending: Sending = { client, lostAfterMs, isRacing };
  const count = lostAfterMs === undefined ? verb.name : `${verb.name}, disconnected`;
  real.counts[count] = (real.counts[count] ?? 0) + 1;
  const token = operation.token!;
  switch (verb.name) {
    case 'start again':
      return actions.start(sending, operation);
    case 'start with other arguments':
      return actions.startChanged(sending, operation);
    case 'read':
      return actions.read(sending, operation, (signal) => client.read(token, signal));
    case 'wait':
      return actions.read(sending, operation, (signal) => client.wait!(token, verb.seconds, signal));
    case 'cancel':
      return actions.cancel(sending, operation);
    case 'resume':
      return actions.resume(sending, operation, model);
    case 'answer':
      return actions.answer(sending, operation, keyOf(operation, verb), fitting(client, verb.given));
    case 'forge':
      return actions.forge(real.signal, operation, keyOf(operation, verb), verb.forged);
    case 'signal': {
      const id = `${model.prefix}-${Object.values(real.counts).reduce((sum, number) => sum + number, 0)}`;
      return actions.signal(real.signal, operation, keyOf(operation, verb), verb.value, id);
    }
  }
}

function keyOf({ plan, facts }: Operation, { question }: { question: number }): string {
  return facts.open[question % 4] ?? `input-${1 + (question % Math.max(1, plan.questions))}`;
}

/** A form takes an invalid answer as its dismissal, and the question is asked again under a new key. */
function fitting(client: ProtocolClient, given: GivenAnswer): GivenAnswer {
  return client.name === '2025-11-25 tasks' && given !== 'decline' && !Number.isInteger(given['value'])
    ? 'decline'
    : given;
}

const nameOf = ({ client, operation, lostAfterMs, verb: { name, ...details } }: Drawn) =>
  [
    `${name} ${Object.keys(details).length ? JSON.stringify(details) : ''} #${operation} by ${client}`,
    ...(lostAfterMs === undefined ? [] : [`disconnected after ${lostAfterMs} ms`]),
  ].join(', ');

class Start implements Command {
  constructor(
    private readonly plan: Plan,
    private readonly client: number,
    private readonly lostAfterMs: number | undefined,
  ) {}

  check = ({ operations }: Readonly<Model>) => operations.length < 4;

  async run(model: Model, real: Real): Promise<void> {
    const { plan, lostAfterMs } = this;
    const key = `${model.prefix}-${model.operations.length}`;
    const operation: Operation = { plan, key, facts: newFacts(plan) };
    model.operations.push(operation);
    real.counts['start'] = (real.counts['start'] ?? 0) + 1;
    const sending = { client: at(real.clients, this.client), lostAfterMs, isRacing: false };
    await actions.together([actions.start(sending, operation)]);
  }

  toString = () =>
    `start ${this.plan.tool} ${JSON.stringify(this.plan.args)} by ${this.client}${this.lostAfterMs === undefined ? '' : `, disconnected after ${this.lostAfterMs} ms`}`;
}

/** One call, or two at the same time. */
class Calls implements Command {
  constructor(private readonly drawn: Drawn[]) {}

  check = (model: Readonly<Model>) => this.drawn.every((drawn) => operationOf(model, drawn) !== undefined);

  async run(model: Model, real: Real): Promise<void> {
    const isRacing = this.drawn.length > 1;
    await actions.together(this.drawn.map((drawn) => callOf(model, real, drawn, { isRacing })));
  }

  toString = () => this.drawn.map(nameOf).join(' | ');
}

/** Calls about an operation that asks, while no worker takes them: in turn, or several at the same time. */
class WithoutWorker implements Command {
  constructor(
    private readonly end: 'SIGSTOP' | 'SIGKILL',
    private readonly plan: Plan,
    private readonly groups: Drawn[][],
  ) {}

  check = ({ stopsLeft }: Readonly<Model>) => stopsLeft > 0;

  async run(model: Model, real: Real): Promise<void> {
    const { end, plan, groups } = this;
    const { clients, worker, counts } = real;
    model.stopsLeft -= 1;
    counts[end] = (counts[end] ?? 0) + 1;
    const key = `${model.prefix}-without`;
    const operation: Operation = { plan, key, facts: newFacts(plan) };
    model.operations.push(operation);
    const sending: Sending = { client: clients[0]!, isRacing: false };
    await actions.together([actions.start(sending, operation)]);
    for (const limit = Date.now() + ASKS_LIMIT_MS; operation.facts.open.length === 0; await delay(LOOK_MS)) {
      if (Date.now() > limit) throw new Violation(`does not ask within ${ASKS_LIMIT_MS} ms`);
      await actions.together([actions.read(sending, operation, () => sending.client.read(operation.token!))]);
    }
    await worker!.end(end);
    try {
      for (const group of groups) {
        const context = { isRacing: group.length > 1, operation };
        await actions.together(group.map((drawn) => callOf(model, real, drawn, context)));
      }
    } finally {
      worker!.begin();
    }
  }

  toString = () =>
    `without worker (${this.end}): ${this.groups.map((group) => group.map(nameOf).join(' | ')).join(', then ')}`;
}

const lost: fc.Arbitrary<number | undefined> = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 8 },
  { arbitrary: fc.integer({ min: 0, max: 60 }), weight: 1 },
);
const position = fc.nat({ max: 19 });

const steered = fc
  .record({
    units: fc.nat({ max: 6 }),
    questions: fc.nat({ max: 3 }),
    areAtOnce: fc.boolean(),
    ends: fc.constantFrom('completed' as const, 'completed' as const, 'failed' as const),
    cleanupMs: fc.constantFrom(0, 400),
  })
  .map((args): Plan => ({ tool: 'steered', args, ...args }));
const twoSteps = fc
  .record({
    ends: fc.constantFrom('completed' as const, 'failed' as const),
    seconds: fc.constantFrom(0, 0, 1),
  })
  .map((args): Plan => ({ tool: 'two_steps', args, ends: args.ends, questions: 0, areAtOnce: false }));

const given: fc.Arbitrary<GivenAnswer> = fc.oneof(
  { arbitrary: fc.record({ value: fc.nat({ max: 99 }) }), weight: 6 },
  { arbitrary: fc.constant('decline' as const), weight: 1 },
  { arbitrary: fc.constant({ value: 'text' }), weight: 1 },
);
const question = fc.nat({ max: 3 });
const answer = fc.record({ name: fc.constant('answer' as const), question, given });
const forge = fc.record({
  ...{ name: fc.constant('forge' as const), question },
  forged: fc.constantFrom(...(Object.keys(actions.FORGED) as actions.Forged[])),
});
const signal = fc.record({
  ...{ name: fc.constant('signal' as const), question },
  value: fc.nat({ max: 99 }),
});
const verb: fc.Arbitrary<Verb> = fc.oneof(
  { arbitrary: fc.constant({ name: 'read' as const }), weight: 8 },
  { arbitrary: answer, weight: 8 },
  { arbitrary: forge, weight: 2 },
  { arbitrary: signal, weight: 1 },
  { arbitrary: fc.record({ name: fc.constant('wait' as const), seconds: fc.constant(1) }), weight: 3 },
  { arbitrary: fc.constant({ name: 'cancel' as const }), weight: 1 },
  { arbitrary: fc.constant({ name: 'resume' as const }), weight: 2 },
  { arbitrary: fc.constant({ name: 'start again' as const }), weight: 2 },
  { arbitrary: fc.constant({ name: 'start with other arguments' as const }), weight: 1 },
);
const drawn: fc.Arbitrary<Drawn> = fc.record({
  client: position,
  operation: position,
  lostAfterMs: lost,
  verb,
});

/** Two calls about the same operation, which race. */
const racing = fc
  .tuple(drawn, drawn)
  .map(([first, second]) => [first, { ...second, operation: first.operation }]);

/** Mostly answers, with every other verb that makes sense for one operation. */
const verbWithoutWorker: fc.Arbitrary<Verb> = fc.oneof(
  { arbitrary: answer, weight: 8 },
  { arbitrary: fc.constant({ name: 'read' as const }), weight: 3 },
  { arbitrary: forge, weight: 2 },
  { arbitrary: signal, weight: 1 },
  { arbitrary: fc.constant({ name: 'cancel' as const }), weight: 1 },
);
const groups = fc.array(
  fc.array(fc.record({ client: position, operation: position, lostAfterMs: lost, verb: verbWithoutWorker }), {
    minLength: 1,
    maxLength: 3,
  }),
  { minLength: 1, maxLength: 3 },
);
const asking = fc
  .record({
    ...{ units: fc.constant(0), questions: fc.integer({ min: 1, max: 3 }), areAtOnce: fc.boolean() },
    ...{ ends: fc.constantFrom('completed' as const, 'failed' as const), cleanupMs: fc.constant(0) },
  })
  .map((args): Plan => ({ tool: 'steered', args, ...args }));

export const commands = fc.commands<Model, Real, false>(
  [
    fc
      .tuple(fc.oneof({ arbitrary: steered, weight: 3 }, { arbitrary: twoSteps, weight: 1 }), position, lost)
      .map((drawnStart) => new Start(...drawnStart)),
    ...[1, 2, 3, 4].map(() => drawn.map((one) => new Calls([one]))),
    racing.map((two) => new Calls(two)),
    fc
      .tuple(fc.constantFrom('SIGSTOP' as const, 'SIGKILL' as const, 'SIGKILL' as const), asking, groups)
      .map((drawnStop) => new WithoutWorker(...drawnStop)),
  ],
  { maxCommands: 40, size: 'max' },
);

/** Brings every operation to its end, and reads it over all protocols. @throws Violation */
export async function settle(model: Model, { clients }: Real): Promise<void> {
  const operations = [...model.operations];
  await Promise.all(
    operations.map(async (operation, number) => {
      await settleOne(operation, clients, number);
      const { resumed, plan, facts, resumedFrom } = operation;
      const isResumable = facts.reachable.every((state) => state === 'failed' || state === 'canceled');
      if (plan.tool !== 'two_steps' || !isResumable || resumedFrom !== undefined) return;
      await resumeTwice(operation, model, clients, number);
      if (!resumed && operation.resumed) await settleOne(operation.resumed, clients, number);
    }),
  );
}

/** By two clients at the same time. */
async function resumeTwice(
  operation: Operation,
  model: Model,
  clients: ProtocolClient[],
  number: number,
): Promise<void> {
  const able = clients.filter((client) => 'resume' in client);
  const calls = [number, number + 1].map((turn) =>
    actions.resume({ client: at(able, turn), isRacing: true }, operation, model),
  );
  await actions.together(calls);
}

async function settleOne(operation: Operation, clients: ProtocolClient[], number: number): Promise<void> {
  const sending = (turn: number): Sending => ({ client: at(clients, turn), isRacing: false });
  const look = (turn: number) => {
    const by = sending(turn);
    return actions.together([actions.read(by, operation, () => by.client.read(operation.token!))]);
  };
  if (operation.token === undefined) await actions.together([actions.start(sending(number), operation)]);
  const deadline = Date.now() + END_LIMIT_MS;
  for (let turn = number; !operation.facts.isClosed; turn += 1) {
    if (Date.now() > deadline)
      throw new Violation(`not over within ${END_LIMIT_MS} ms: ${JSON.stringify(operation)}`);
    await look(turn);
    const [key] = operation.facts.open;
    if (key !== undefined)
      await actions.together([actions.answer(sending(turn + 1), operation, key, { value: 100 + turn })]);
    else if (!operation.facts.isClosed) await answerUnsure(operation, clients, turn);
  }
  for (let turn = 0; turn < clients.length; turn += 1) await look(turn);
  await look(number);
}

/** Answers the questions that may be open though an answer was sent: nobody knows whether that one was taken. */
async function answerUnsure(operation: Operation, clients: ProtocolClient[], turn: number): Promise<void> {
  const { answered, given, isClosed } = operation.facts;
  const unsure = Object.keys(given).filter((key) => !answered.includes(key));
  if (unsure.length === 0 || isClosed) return void (await delay(LOOK_MS));
  const sending: Sending = { client: at(clients, turn), isRacing: false };
  for (const key of unsure)
    await actions.together([actions.answer(sending, operation, key, { value: 200 + turn })]);
}
