/** Stacks of workflow code, mapped to places in the author's and Longhaul's sources. */

/** A function call in a stack, with its position in the source file. */
export interface Frame {
  /** Absent for an anonymous function. */
  function?: string;
  /** Absolute path. */
  file: string;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
}

const FRAME = /^\s+at (?:(.+) \()?(\/[^()]*?|[A-Za-z]:[\\/][^()]*?):(\d+):(\d+)\)?$/;
const SDK = /[\\/]node_modules[\\/]@temporalio[\\/]/;
/** Longhaul's interceptors and helpers, which call the SDK for workflow code. */
const RUNTIME = /[\\/]workflows[\\/]runtime[\\/]/;
/** Files through which the SDK chains interceptors. */
const CHAIN = /[\\/](internals|interceptors|interceptor-composition)\.[jt]s$/;
/** Every change of an operation's state goes through this function of the runtime. */
const CHANGE = 'changeState';

interface ParsedFrame extends Frame {
  isSdk: boolean;
}

/** The functions that made a command, innermost first, without interceptors that only pass it on. */
export function callersIn(stack: string): Frame[] {
  const frames = parse(stack);
  let at = frames.findIndex((frame) => !frame.isSdk);
  while (at > 0 && CHAIN.test(frames[at - 1]!.file)) {
    // The interceptor's caller is the SDK function that the workflow's code called.
    const caller = frames.findIndex((frame, index) => index > at && frame.isSdk);
    const next = frames.findIndex((frame, index) => index > caller && !frame.isSdk);
    if (caller < 0 || next < 0) break;
    at = next;
  }
  const calls = frames.slice(Math.max(at, 0));
  const outside = calls.findIndex((frame) => frame.isSdk);
  const own = calls.filter(
    ({ isSdk, file }, index) => !isSdk && (outside < 0 || index < outside || !RUNTIME.test(file)),
  );
  const changed = own.findLastIndex((frame) => frame.function === CHANGE && RUNTIME.test(frame.file));
  return (changed < 0 ? own : withoutHelpers(own.slice(changed + 1))).map(
    ({ isSdk: _isSdk, ...frame }) => frame,
  );
}

/** Helpers that authors call, such as progress(), change the state on the author's behalf. */
function withoutHelpers(frames: ParsedFrame[]): ParsedFrame[] {
  const first = frames.findIndex(({ file }) => !RUNTIME.test(file));
  return first < 0 ? frames : frames.slice(first);
}

export function isRuntime([first]: readonly Frame[]): boolean {
  return first !== undefined && RUNTIME.test(first.file);
}

function parse(stack: string): ParsedFrame[] {
  return stack.split('\n').flatMap((line) => {
    const [, name, file, row, column] = FRAME.exec(line) ?? [];
    if (file === undefined) return [];
    const plain = name?.replace(/^(?:async |new )+/, '').replace(/ \[as .+\]$/, '');
    return [
      {
        ...(plain === undefined || plain === '<anonymous>' ? {} : { function: shortName(plain) }),
        file,
        line: Number(row),
        column: Number(column) + 1,
        isSdk: SDK.test(file),
      },
    ];
  });
}

/** `next` for `Object.next`. */
function shortName(name: string): string {
  return name.replace(/^(?:Object|Proxy|global|Function)\./, '');
}

interface SourceMap {
  sources: string[];
  sourcesContent?: (string | null)[];
}

/** The function that is exported under the name of a workflow type; undefined if no source declares it so. */
export function functionIn(code: string, type: string): Frame | undefined {
  const [, encoded] =
    /\/\/# sourceMappingURL=data:[^,]*;base64,([A-Za-z0-9+/=]+)\s*$/.exec(
      code.slice(code.lastIndexOf('//# sourceMappingURL=')),
    ) ?? [];
  if (encoded === undefined) return undefined;
  const { sources, sourcesContent = [] } = JSON.parse(Buffer.from(encoded, 'base64').toString()) as SourceMap;
  const name = type.replaceAll(/[^\w$]/g, '');
  const declaration = new RegExp(
    `^export\\s+(?:default\\s+)?(?:(?:async\\s+)?function|const|let)\\s+${name.replaceAll('$', '\\$')}\\b`,
    'm',
  );
  for (const [at, file] of sources.entries()) {
    const content = /[\\/]node_modules[\\/]/.test(file) ? undefined : sourcesContent[at];
    const found = content ? declaration.exec(content) : null;
    if (!found) continue;
    const line = content!.slice(0, found.index).split('\n').length;
    return { function: type, file, line, column: 1 };
  }
  return undefined;
}
