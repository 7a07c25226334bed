/** Rights of callers, from the roles in a policy file. */
import { SettingsError } from '../../../platform/settings/index.js';
import type { Logger } from '../../../platform/observe/log.js';
import { versionOf } from '../../../platform/project/watch-files.js';
import type { Caller } from '../caller.js';
import {
  MAILBOX,
  readPolicyFile,
  VERBS,
  type PolicyCase,
  type PolicyFile,
  type PolicyRole,
  type Verb,
} from './file.js';

export { parsePolicy, readPolicyFile, type PolicyCase, type PolicyFile, type Verb } from './file.js';

/** How often the file is checked for an edit. */
const CHECK_MS = 1_000;

/** A caller, as policies see it. */
export type PolicySubject = Pick<Caller, 'tenant' | 'subject' | 'groups' | 'scopes'>;

export interface Rights {
  /** Names of the caller's roles, sorted. */
  roles: readonly string[];
  /** Whether the caller may start a tool, and see it. */
  mayStart: (tool: string) => boolean;
  /** Verbs for the caller's own operations. */
  own: ReadonlySet<Verb>;
  /** Verbs for all operations of the caller's tenant. */
  tenant: ReadonlySet<Verb>;
  mailbox: boolean;
}

/** Rights without a policy: everything, on the caller's own operations. */
export const ALL_OWN: Rights = {
  roles: [],
  mayStart: () => true,
  own: new Set(VERBS),
  tenant: new Set(),
  mailbox: true,
};

/** The combined rights of all the caller's roles. */
export function rightsOf(policy: PolicyFile, caller: PolicySubject): Rights {
  const held = Object.entries(policy.roles).filter(([, role]) => isMember(role, caller));
  const tools = held.flatMap(([, role]) => role.tools.map(matcherOf));
  const own = held.flatMap(([, role]) => role.own);
  return {
    roles: held.map(([name]) => name).sort(),
    mayStart: (tool) => tools.some((matches) => matches.test(tool)),
    own: verbsIn(own),
    tenant: verbsIn(held.flatMap(([, role]) => role.tenant)),
    mailbox: own.includes(MAILBOX),
  };
}

/** Checks a case of a policy. @returns a line for each expectation that doesn't hold */
export function checkCase(policy: PolicyFile, { caller, roles, can, cannot }: PolicyCase): string[] {
  const rights = rightsOf(policy, caller);
  const wrongRoles = roles !== undefined && [...roles].sort().join() !== rights.roles.join();
  const listed = (names: readonly string[]) => names.join(', ') || 'none';
  return [
    ...(wrongRoles ? [`roles: expected ${listed(roles)}; got ${listed(rights.roles)}`] : []),
    ...can.filter((right) => !has(rights, right)).map((right) => `can: ${right}: it is not allowed`),
    ...cannot.filter((right) => has(rights, right)).map((right) => `cannot: ${right}: it is allowed`),
  ];
}

/** A policy that follows edits of its file. It refuses an invalid edit and keeps the previous rights. */
export class Policy {
  #file: PolicyFile;
  #version: string | undefined;
  #checkedAtMs: number;
  #rights = new WeakMap<PolicySubject, Rights>();

  /** @throws SettingsError for an unusable file */
  constructor(
    private readonly path: string,
    private readonly logger: Pick<Logger, 'error' | 'info'>,
  ) {
    this.#version = versionOf(path);
    this.#file = readPolicyFile(path);
    this.#checkedAtMs = performance.now();
  }

  rightsOf(caller: PolicySubject): Rights {
    this.#refresh();
    const known = this.#rights.get(caller);
    if (known) return known;
    const rights = rightsOf(this.#file, caller);
    this.#rights.set(caller, rights);
    return rights;
  }

  #refresh(): void {
    if (performance.now() - this.#checkedAtMs < CHECK_MS) return;
    this.#checkedAtMs = performance.now();
    const version = versionOf(this.path);
    if (version === this.#version) return;
    this.#version = version;
    try {
      this.#file = readPolicyFile(this.path);
      this.#rights = new WeakMap();
      this.logger.info({ path: this.path }, 'the policy has changed');
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      this.logger.error(
        { reason: error.message },
        'the edited policy is refused; the one before stays in force',
      );
    }
  }
}

/** All fields of one entry must match. */
function isMember({ members }: PolicyRole, caller: PolicySubject): boolean {
  return members.some(
    (member) =>
      member === 'everyone' ||
      ((member.tenant === undefined || member.tenant === caller.tenant) &&
        (member.subject === undefined || member.subject === caller.subject) &&
        (member.group === undefined || caller.groups.includes(member.group)) &&
        (member.scope === undefined || caller.scopes.includes(member.scope))),
  );
}

function matcherOf(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
}

function verbsIn(given: readonly string[]): ReadonlySet<Verb> {
  return new Set(given.includes('operate') ? VERBS : VERBS.filter((verb) => given.includes(verb)));
}

/** @param right as in a case: `start TOOL`, `read own`, `cancel tenant`, `mailbox` */
function has(rights: Rights, right: string): boolean {
  const [verb, object] = right.split(' ') as [Verb | 'start' | 'mailbox', string];
  if (verb === 'mailbox') return rights.mailbox;
  if (verb === 'start') return rights.mayStart(object);
  return rights[object as 'own' | 'tenant'].has(verb);
}
