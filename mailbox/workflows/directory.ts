/**
 * One principal's directory: its agents, the messages for anyone, and the recipients of messages for several agents. The first
 * matching claim of a waiting agent gets a message for anyone. The directory itself sends it to the claimer's inbox, so a server
 * that ends can't lose it. The same workflow type runs as home directory, which does all of this, and as shard, which lists the
 * agents that have no room in the home directory.
 */
import {
  condition,
  getExternalWorkflowHandle,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { jsonBytes } from '../json-size.js';
import { OFFERS_LIMIT, REPLIES_KEPT_MS } from '../limits.js';
import { shardsOf } from '../shards.js';
import {
  oldestOf,
  type DirectoryInput,
  type DirectoryMemo,
  type DirectoryState,
  type Publication,
  type StoredMessage,
} from '../state.js';
import { matchesSelector } from '../types.js';
import {
  agentsQuery,
  assignSignal,
  claimUpdate,
  enlistAllUpdate,
  handBackSignal,
  leaveSignal,
  offerUpdate,
  publicationQuery,
  publishUpdate,
  type ClaimRequest,
  type EnlistAllResult,
  type EnlistRequest,
} from '../wire.js';
import { AgentList } from './agents.js';
import { handleUpdate, received, refuse, Run } from './run.js';

/** Maximum size of the publications, in bytes of JSON. */
const PUBLICATIONS_LIMIT_BYTES = 100 * 1024;

export async function mailbox_directory(input: DirectoryInput): Promise<void> {
  const { principal, continueAfterChanges } = input;
  const state: DirectoryState = input.state ?? { agents: {}, offers: [], publications: [] };
  const list = new AgentList(state.agents);
  const { workflowId } = workflowInfo();
  const homeId = workflowId.slice(0, workflowId.lastIndexOf('directory') + 'directory'.length);
  const inboxPrefix = homeId.replace(/directory$/, 'inbox:');
  const shard = workflowId === homeId ? undefined : Number(workflowId.slice(homeId.length + 1));
  const memo = (): DirectoryMemo => ({
    version: 1,
    principal,
    wanted: wantedOf(state.offers),
    oldestAt: oldestOf(state.offers),
  });
  const run = new Run(memo, continueAfterChanges);

  handleUpdate(enlistAllUpdate, {
    description: 'Lists agents, or updates their entries.',
    validate({ agents, limit }) {
      const changed = agents.filter((agent) => !list.isCurrent(agent));
      const becomesSharded = changed.length > 0 && shard === undefined && !state.isSharded;
      if (becomesSharded || changed.some((agent) => accepts(agent, limit))) return;
      const answer: EnlistAllResult = { refused: changed.map(({ name }) => name), listed: list.present };
      refuse('repeat', 'nothing to change', answer);
    },
    apply({ agents, limit }) {
      const refused: string[] = [];
      for (const agent of agents) {
        if (list.isCurrent(agent)) continue;
        const { isForced: _isForced, ...listed } = agent;
        if (accepts(agent, limit)) list.put(listed, limit);
        else refused.push(agent.name);
      }
      if (refused.length > 0 && shard === undefined) state.isSharded = true;
      run.count();
      return { refused, listed: list.present };
    },
  });

  setHandler(
    leaveSignal,
    async (notice) => {
      run.count();
      const wasListed = list.leave(notice);
      if (wasListed && !notice.isForgotten) return;
      const shards = shardsOf(notice.name);
      const next = shard === undefined ? 0 : shards.indexOf(shard) + 1;
      if (next === shards.length || (shard === undefined && !state.isSharded)) return;
      try {
        await getExternalWorkflowHandle(`${homeId}:${shards[next]}`).signal(leaveSignal, notice);
      } catch {
        // The shard doesn't exist, so neither it nor any after it lists agents.
      }
    },
    { description: 'Marks an agent as left, or removes it after its inbox closed.' },
  );

  handleUpdate(publishUpdate, {
    description: 'Records the recipients of a message.',
    validate: assertNew,
    apply(publication) {
      publish({ ...publication, at: Date.now() });
      run.count();
    },
  });

  handleUpdate(offerUpdate, {
    description: 'Offers a message to any agent that matches.',
    validate(message) {
      assertNew(message);
      const now = Date.now();
      if (state.offers.filter(({ expiresAt }) => expiresAt > now).length >= OFFERS_LIMIT) refuse('full');
    },
    apply(message) {
      expire();
      state.offers.push(received(message));
      const { id, digest } = message;
      publish({ id, recipients: [], isOffer: true, at: Date.now(), digest });
      run.changed();
    },
  });

  handleUpdate(claimUpdate, {
    description: 'Assigns the first matching offer to the agent.',
    validate(claim) {
      if (!offerFor(claim)) refuse('nothing');
    },
    async apply(claim) {
      const { name } = claim;
      expire();
      const message = offerFor(claim);
      run.changed();
      if (!message) refuse('nothing');
      state.offers = state.offers.filter((one) => one !== message);
      updatePublication(message.id, { recipients: [name] });
      try {
        await getExternalWorkflowHandle(inboxPrefix + name).signal(assignSignal, message);
      } catch {
        // The inbox is closed.
        list.delete(name);
        takeBack(message);
        refuse('nothing');
      }
      return message.id;
    },
  });

  setHandler(handBackSignal, takeBack, {
    description: 'Takes back a message that its taker did not acknowledge.',
  });

  setHandler(agentsQuery, () => ({
    agents: list.all(),
    offers: state.offers.length,
    isSharded: state.isSharded,
  }));
  setHandler(publicationQuery, (id) => publicationOf(id) ?? null);

  function accepts(agent: EnlistRequest, limit: number): boolean {
    return (!state.isSharded || list.find(agent.name) !== undefined) && list.hasRoom(agent, limit);
  }

  function offerFor({ name, registration }: ClaimRequest): StoredMessage | undefined {
    const now = Date.now();
    if (list.find(name)?.hasLeft) return undefined;
    return state.offers.find(
      ({ selector, expiresAt }) => expiresAt > now && matchesSelector(registration, selector!),
    );
  }

  function takeBack(message: StoredMessage): void {
    state.offers.unshift(message);
    updatePublication(message.id, { recipients: [] });
    run.changed();
  }

  function expire(): void {
    const now = Date.now();
    for (const { id, expiresAt } of state.offers)
      if (expiresAt <= now) updatePublication(id, { isExpired: true });
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

  function updatePublication(id: string, change: Partial<Publication>): void {
    const publication = publicationOf(id);
    if (publication) Object.assign(publication, change, { at: Date.now() });
  }

  function publish(publication: Publication): void {
    state.publications.push(publication);
    const oldest = Date.now() - REPLIES_KEPT_MS;
    let bytes = jsonBytes(state.publications);
    // Keeps an open offer at any age.
    state.publications = state.publications.filter((one) => {
      const isOpen = state.offers.some(({ id }) => id === one.id) || one === publication;
      if (isOpen || (one.at >= oldest && bytes <= PUBLICATIONS_LIMIT_BYTES)) return true;
      bytes -= jsonBytes(one) + 1;
      return false;
    });
  }

  await condition(() => run.isFull());
  state.agents = list.toRecord();
  await run.continueAsNew<typeof mailbox_directory>({ principal, continueAfterChanges, state });
}

/** Distinct selectors of the offers, with the number of offers for each. */
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

// It never ends: each build continues the previous build's mailbox.
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, mailbox_directory);
