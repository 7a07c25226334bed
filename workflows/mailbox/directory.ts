/**
 * One principal's directory: which agents there are, what is offered to anyone, and where messages went that aren't for one
 * agent alone. Whoever waits claims; the first claim that fits gets the message, which goes into the claimer's inbox from
 * here, so that no server's end can lose it in between.
 */
import {
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  AGENTS_LIMIT,
  fits,
  jsonBytes,
  OFFERS_LIMIT,
  REPLIES_KEPT_MS,
  type Registration,
} from '../../operations/mailbox.js';
import {
  AGENTS_QUERY,
  ASSIGN,
  CLAIM,
  ENLIST,
  HAND_BACK,
  LEAVE,
  OFFER,
  PUBLICATION_QUERY,
  PUBLISH,
  type ClaimRequest,
  type DirectoryInput,
  type DirectoryMemo,
  type DirectoryState,
  type EnlistRequest,
  type LeaveNotice,
  type Listed,
  type Publication,
  type StoredMessage,
} from '../../operations/mailbox-wire.js';
import { refuse, Run } from './run.js';

/** Largest parts of the state, in bytes of JSON; with the offers they stay under 1 MiB. */
const AGENTS_LIMIT_BYTES = 300 * 1024;
const PUBLICATIONS_LIMIT_BYTES = 100 * 1024;

export async function mailbox_directory(input: DirectoryInput): Promise<void> {
  const { principal, continueAfterChanges } = input;
  const state: DirectoryState = input.state ?? { agents: {}, offers: [], publications: [] };
  const inboxPrefix = workflowInfo().workflowId.replace(/directory$/, 'inbox:');
  const memo = (): DirectoryMemo => ({ version: 1, principal, wanted: wantedOf(state.offers) });
  const run = new Run(memo, continueAfterChanges);

  setHandler(
    defineUpdate<void, [EnlistRequest]>(ENLIST),
    ({ isForced: _isForced, ...listed }) => {
      if (!state.agents[listed.name]) makeRoom(listed);
      state.agents[listed.name] = listed;
      run.count();
    },
    {
      validator: (request: EnlistRequest) => {
        const { isForced, epoch } = request;
        const listed = state.agents[request.name];
        if (listed && listed.epoch > epoch) refuse('repeat');
        if (listed && !listed.hasLeft && !isForced && isSame(request, listed)) refuse('repeat');
        const hasRoom = listed ?? Object.values(state.agents).find(({ hasLeft }) => hasLeft);
        if (!hasRoom && isListFull(request)) refuse('full');
      },
      description: 'Lists an agent, or what has changed of it.',
    },
  );

  setHandler(
    defineSignal<[LeaveNotice]>(LEAVE),
    ({ name, epoch, isForgotten }) => {
      run.count();
      const agent = state.agents[name];
      if (!agent || agent.epoch > epoch) return;
      if (isForgotten) delete state.agents[name];
      else agent.hasLeft = true;
    },
    { description: 'An agent said good-bye or is forgotten.' },
  );

  setHandler(
    defineUpdate<void, [Pick<Publication, 'id' | 'recipients' | 'digest'>]>(PUBLISH),
    (publication) => {
      publish({ ...publication, at: Date.now() });
      run.count();
    },
    {
      validator: assertNew,
      description: 'Notes whom a message goes to.',
    },
  );

  setHandler(
    defineUpdate<void, [StoredMessage]>(OFFER),
    (message) => {
      expire();
      state.offers.push(message);
      const { id, digest } = message;
      publish({
        id,
        recipients: [],
        isOffer: true,
        at: Date.now(),
        ...(digest === undefined ? {} : { digest }),
      });
      run.changed();
    },
    {
      validator: (message: StoredMessage) => {
        assertNew(message);
        const now = Date.now();
        if (state.offers.filter(({ expiresAt }) => expiresAt > now).length >= OFFERS_LIMIT) refuse('full');
      },
      description: 'Offers a message to anyone who fits.',
    },
  );

  setHandler(
    defineUpdate<string, [ClaimRequest]>(CLAIM),
    async ({ name }) => {
      expire();
      const message = offerFor(name);
      run.changed();
      if (!message) refuse('nothing');
      state.offers = state.offers.filter((one) => one !== message);
      note(message.id, { recipients: [name] });
      try {
        await getExternalWorkflowHandle(inboxPrefix + name).signal(ASSIGN, message);
      } catch {
        // It has no inbox any more.
        delete state.agents[name];
        takeBack(message);
        refuse('nothing');
      }
      return message.id;
    },
    {
      validator: ({ name }: ClaimRequest) => {
        if (!offerFor(name)) refuse('nothing');
      },
      description: 'Gives the first offer that fits the agent to it.',
    },
  );

  setHandler(defineSignal<[StoredMessage]>(HAND_BACK), takeBack, {
    description: 'A message that its taker did not do.',
  });

  setHandler(defineQuery<{ agents: Listed[]; offers: number }>(AGENTS_QUERY), () => ({
    agents: Object.values(state.agents),
    offers: state.offers.length,
  }));
  setHandler(defineQuery<Publication | null, [string]>(PUBLICATION_QUERY), (id) => publicationOf(id) ?? null);

  function isListFull(one: Listed): boolean {
    const { agents } = state;
    return (
      Object.keys(agents).length >= AGENTS_LIMIT || jsonBytes(agents) + jsonBytes(one) > AGENTS_LIMIT_BYTES
    );
  }

  function makeRoom(one: Listed): void {
    for (const { name, hasLeft } of Object.values(state.agents)) {
      if (!isListFull(one)) return;
      if (hasLeft) delete state.agents[name];
    }
  }

  function offerFor(name: string): StoredMessage | undefined {
    const agent = state.agents[name];
    const now = Date.now();
    if (!agent || agent.hasLeft) return undefined;
    return state.offers.find(({ selector, expiresAt }) => expiresAt > now && fits(agent, selector!));
  }

  function takeBack(message: StoredMessage): void {
    state.offers.unshift(message);
    note(message.id, { recipients: [] });
    run.changed();
  }

  /** Takes out what nobody may get any more. */
  function expire(): void {
    const now = Date.now();
    for (const { id, expiresAt } of state.offers) if (expiresAt <= now) note(id, { isExpired: true });
    state.offers = state.offers.filter(({ expiresAt }) => expiresAt > now);
  }

  function publicationOf(id: string): Publication | undefined {
    return state.publications.find((one) => one.id === id);
  }

  function assertNew({ id, digest }: Pick<Publication, 'id' | 'digest'>): void {
    const known = publicationOf(id);
    if (!known) return;
    const isOther = known.digest !== undefined && digest !== undefined && known.digest !== digest;
    refuse(isOther ? 'conflict' : 'repeat');
  }

  function note(id: string, what: Partial<Publication>): void {
    const publication = publicationOf(id);
    if (publication) Object.assign(publication, what, { at: Date.now() });
  }

  function publish(publication: Publication): void {
    state.publications.push(publication);
    const oldest = Date.now() - REPLIES_KEPT_MS;
    let bytes = jsonBytes(state.publications);
    // An offer that is still open is kept, however old.
    state.publications = state.publications.filter((one) => {
      const isOpen = state.offers.some(({ id }) => id === one.id) || one === publication;
      if (isOpen || (one.at >= oldest && bytes <= PUBLICATIONS_LIMIT_BYTES)) return true;
      bytes -= jsonBytes(one) + 1;
      return false;
    });
  }

  await condition(() => run.isFull());
  await run.continueAsNew<typeof mailbox_directory>({ principal, continueAfterChanges, state });
}

/** Each selector once, with how many offers have it. */
function wantedOf(offers: StoredMessage[]): DirectoryMemo['wanted'] {
  const counts = new Map<string, number>();
  for (const { selector } of offers) {
    const text = JSON.stringify(selector);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => ({
    selector: JSON.parse(text) as DirectoryMemo['wanted'][number]['selector'],
    count,
  }));
}

function isSame(one: Registration, other: Registration): boolean {
  const ordered = ({ name, type, capabilities, parent }: Registration) =>
    JSON.stringify([name, type, capabilities, parent]);
  return ordered(one) === ordered(other);
}
