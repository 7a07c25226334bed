/** Errors of an author's code, for people: what was thrown, where, and how to correct it. */
import { cutText } from './wire/state.js';

/** An error as Temporal keeps it. */
export interface Thrown {
  message: string;
  stack?: string | null | undefined;
}

const MESSAGE_BYTES = 600;
const FRAME = /^ +at (?:(.+?) \()?(?:file:\/\/)?((?:\/|[A-Za-z]:[\\/])[^()]*?):(\d+):\d+\)?$/;
/** Packages, Longhaul's program and runtime, and bundles. */
const NOT_AUTHORS = /[\\/]node_modules[\\/]|[\\/]dist[\\/]bin[\\/]|[\\/]workflows[\\/]runtime[\\/]|\.cjs$/;
/** The SDK adds it to the message of a value that is no Error. */
const NO_ERROR = / \[A non-Error value was thrown .*\]$/s;

/** `db away (thrown in pour at activities/pour.ts:3)`, in one line. Without a frame of the author's it has no place. */
export function thrownText({ message, stack }: Thrown): string {
  const place = placeIn(stack);
  const [line = ''] = message.replace(NO_ERROR, ', which is no Error').trim().split('\n', 1);
  return cutText(line || 'an error without a message', MESSAGE_BYTES) + (place ? ` (thrown ${place})` : '');
}

/** The innermost function of the author's code in a stack: `in pour at activities/pour.ts:3`. */
export function placeIn(stack: string | null | undefined): string | undefined {
  const frame = authorsFrame(stack);
  const [, name, path = '', line] = FRAME.exec(frame ?? '') ?? [];
  if (line === undefined) return undefined;
  const plain = name?.replace(/^(?:async |new )+|^(?:Object|Proxy|global|Function)\.| \[as .+\]$/g, '');
  // The function of a module has the module's path as its name.
  const isNamed = plain && !/[\\/<]/.test(plain);
  return `${isNamed ? `in ${plain} ` : ''}at ${shownPath(path)}:${line}`;
}

/** The same of a call, without the function: a source map gives the name of what is called. */
export function callIn(stack: string | null | undefined): string | undefined {
  return placeIn(stack)?.replace(/^in .* (?=at )/, '');
}

/** A stack's line of the innermost function of the author's code. */
export function authorsFrame(stack: string | null | undefined): string | undefined {
  return stack?.split('\n').find((line) => FRAME.test(line) && !NOT_AUTHORS.test(FRAME.exec(line)![2]!));
}

/** Callers learn no path of the host: from the project's folder on, or the file with its folder. */
function shownPath(path: string): string {
  const parts = path.split(/[\\/]/);
  const at = parts.findLastIndex((part) => part === 'workflows' || part === 'activities' || part === 'tools');
  return parts.slice(at < 0 ? -2 : at).join('/');
}

const TO_FAIL = 'correct the code, or throw ApplicationFailure to fail the operation';
const SANDBOX = 'a workflow runs without Node.js, network and environment: move it to an activity';

/** Cures, by the message of an error that keeps a workflow from continuing. */
const CURES: [pattern: RegExp, cure: string][] = [
  [/\bcrypto is not defined/, `${SANDBOX}, or make IDs with uuid4() of @temporalio/workflow`],
  [
    /\b(fetch|process|Buffer|require|module|performance|set(Immediate|Interval)|structuredClone|queueMicrotask|XMLHttpRequest|WebSocket|Request|Headers|Blob|FormData|__\w+) is not defined/,
    SANDBOX,
  ],
  [
    /Required either scheduleToCloseTimeout|valid StartToClose/,
    "give proxyActivities a limit of an attempt: { startToCloseTimeout: '5 minutes' }",
  ],
  [/Invalid duration string/, "write a duration as '30 seconds', '5 minutes' or a number of milliseconds"],
  [/no such function is exported/, 'export a function of this name from a file in workflows/'],
];

/** How to correct a workflow whose code throws. */
export function cureOf(message: string): string {
  return CURES.find(([pattern]) => pattern.test(message))?.[1] ?? TO_FAIL;
}
