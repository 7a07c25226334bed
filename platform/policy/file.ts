/** The policy file: roles, their members, and cases that `longhaul policy test` checks. YAML 1.2. */
import { readFileSync } from 'node:fs';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { z } from 'zod';
import { didYouMean } from '../../operations/near-names.js';
import { formatKeyPath, type KeyPath } from '../../pipelines/problems.js';
import { SettingsError } from '../settings/index.js';
import { groupName, identityShape } from '../principal.js';

/** Actions on operations that a role may allow. */
export const VERBS = ['read', 'answer', 'cancel', 'resume', 'delete'] as const;
export type Verb = (typeof VERBS)[number];

/** Grants every verb. */
const OPERATE = 'operate';
/** Grants the tools of the mailbox. */
export const MAILBOX = 'mailbox';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const TOOL_PATTERN = /^[A-Za-z0-9_*]{1,64}$/;

const name = z.string().regex(NAME, 'expected a letter, then letters, digits, _ or -, at most 64 characters');
const verbs = z.array(
  z.enum([...VERBS, OPERATE], `expected ${VERBS.join(', ')} or ${OPERATE}`),
  'expected a list',
);
const ownRights = z.array(
  z.enum([...VERBS, OPERATE, MAILBOX], `expected ${VERBS.join(', ')}, ${OPERATE} or ${MAILBOX}`),
  'expected a list',
);

const MEMBER = 'expected everyone, or a map with tenant, subject, group or scope';

const member = z
  .strictObject(
    {
      tenant: identityShape.tenant.optional(),
      subject: identityShape.subject.optional(),
      group: groupName.optional(),
      scope: z.string().min(1).optional(),
    },
    MEMBER,
  )
  .refine((given) => Object.keys(given).length > 0, 'expected tenant, subject, group or scope; got none')
  .refine(
    ({ subject, tenant }) => subject === undefined || tenant !== undefined,
    'expected the tenant of the subject too: subjects are unique in their tenant only',
  );
const EVERYONE = 'everyone';

const role = z.strictObject(
  {
    members: z.array(z.union([z.literal(EVERYONE), member], MEMBER), 'expected a list'),
    tools: z
      .array(
        z.string().regex(TOOL_PATTERN, 'expected the name of a tool, with * for any characters'),
        'expected a list',
      )
      .default([]),
    own: ownRights.default([]),
    tenant: verbs.default([]),
  },
  'expected a map with members, tools, own and tenant',
);

const caller = z.strictObject({
  ...identityShape,
  groups: z.array(groupName).default([]),
  scopes: z.array(z.string().min(1)).default([]),
});

/** `start TOOL`, or a verb with the operations that it applies to: `read own`, `cancel tenant`. */
const right = z
  .string()
  .regex(
    new RegExp(`^(start [A-Za-z][A-Za-z0-9_]*|(${VERBS.join('|')}) (own|tenant)|${MAILBOX})$`),
    `expected start TOOL, ${MAILBOX}, or one of ${VERBS.join(', ')} with own or tenant`,
  );

const testCase = z.strictObject({
  name: z.string().min(1),
  caller,
  roles: z.array(name).optional(),
  can: z.array(right).default([]),
  cannot: z.array(right).default([]),
});

export const policyFile = z.strictObject(
  {
    roles: z.record(name, role, 'expected a map of names and roles'),
    cases: z.array(testCase, 'expected a list').default([]),
  },
  'expected a map with roles and cases',
);

export type PolicyFile = z.output<typeof policyFile>;
export type PolicyRole = PolicyFile['roles'][string];
export type PolicyCase = PolicyFile['cases'][number];

/** Reads a policy. @throws SettingsError with a line for each problem: `file:line:column: path: what was expected; what came` */
export function readPolicyFile(path: string): PolicyFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingsError(`${path}: expected a policy file; ${(error as Error).message}`, { cause: error });
  }
  return parsePolicy(text, path);
}

/** @throws SettingsError as {@link readPolicyFile} */
export function parsePolicy(text: string, path: string): PolicyFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  if (document.errors.length > 0)
    throw new SettingsError(
      document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message.split('\n', 1)[0]}`).join('\n'),
    );
  const parsed = policyFile.safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap(problemsOf);
  throw new SettingsError(
    problems
      .map(
        ({ path: keyPath, message }) =>
          `${at(offsetOf(document, keyPath))}: ${keyPath.length === 0 ? '' : `${formatKeyPath(keyPath)}: `}${message}`,
      )
      .join('\n'),
  );
}

function problemsOf(issue: z.core.$ZodIssue): { path: KeyPath; message: string }[] {
  const path = issue.path as KeyPath;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `unknown key${didYouMean(key, KNOWN_KEYS) || ''}`,
    }));
  if (issue.code === 'invalid_union') {
    const within = issue.errors.find((errors) =>
      errors.some((one) => one.path.length > 0 || one.code === 'unrecognized_keys'),
    );
    if (within) return within.flatMap((one) => problemsOf({ ...one, path: [...path, ...one.path] }));
  }
  return [{ path, message: issue.message }];
}

const KNOWN_KEYS = [
  ...['roles', 'cases', 'members', 'tools', 'own', 'tenant', 'subject', 'group', 'scope'],
  ...['name', 'caller', 'groups', 'scopes', 'can', 'cannot'],
];

/** Offset of the value at a path, or of its nearest ancestor. */
function offsetOf(document: Document.Parsed, path: KeyPath): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}
