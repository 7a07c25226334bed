/** Mistakes in workflows that neither the bundler nor a project without types finds: at run time they loop, or are lost silently. */
import { dirname, resolve } from 'node:path';
import { didYouMean } from '../../operations/json/near-names.js';
import type { ProjectProblem } from '../../platform/project/problems.js';
import { optionMistakes } from './activity-options.js';
import { calledName, nameOf, propertiesOf, walk, type Node, type ParsedFile } from './parsed-workflows.js';

/** Names that the project exports. Activities are undefined if not all are known. */
export interface KnownNames {
  workflows: string[];
  activities: string[] | undefined;
}

export function workflowMistakes(files: readonly ParsedFile[], names: KnownNames): ProjectProblem[] {
  const exported = files.flatMap((file) => proxiesIn(file).filter(({ isExported }) => isExported));
  return files.flatMap((file) => {
    const own = proxiesIn(file);
    const proxies = [...own, ...importedProxies(file, exported)];
    return [
      ...foreignNames(file),
      ...optionMistakes(file),
      ...circularImports(file, files),
      ...(names.activities ? unknownActivities(file, own, proxies, names.activities) : []),
      ...unknownChildren(file, names.workflows),
      ...lostPromises(file, proxies),
    ];
  });
}

/** A variable with the activities of a proxy, or one activity of it. */
interface Proxy {
  variable: string;
  /** Undefined: the variable has all activities. */
  activity?: string;
  node: Node;
  /** Whether workers of another task queue run them. */
  isElsewhere: boolean;
  isExported: boolean;
}

const INSTEAD: Partial<Record<string, string>> = {
  crypto: "use uuid4() of '@temporalio/workflow' for a UUID, and an activity for the rest",
  setInterval: "write a loop with sleep() of '@temporalio/workflow'",
  performance: 'use Date.now(), which is the time of the workflow',
  structuredClone: 'copy it with JSON.parse(JSON.stringify(value))',
};

function foreignNames({ foreign, problemAt }: ParsedFile): ProjectProblem[] {
  return foreign.map(({ name, node }) => {
    const instead = INSTEAD[name] ?? 'do that work in an activity';
    return problemAt(node, `a workflow has no ${name}: Temporal's sandbox is replayed; ${instead}`);
  });
}

const PROXIES = ['proxyActivities', 'proxyLocalActivities'];

function proxiesIn({ program }: ParsedFile): Proxy[] {
  const found: Proxy[] = [];
  walk(program, (node, [, parent]) => {
    if (node.type !== 'VariableDeclarator' || !PROXIES.includes(calledName(node['init']) ?? '')) return;
    const [options] = (node['init'] as Node)['arguments'] as Node[];
    const isExported = parent?.type === 'ExportNamedDeclaration';
    const place = { isElsewhere: namesTaskQueue(options), isExported };
    const id = node['id'] as Node;
    if (id.type === 'Identifier') found.push({ variable: nameOf(id)!, node: id, ...place });
    for (const property of propertiesOf(id)) {
      const activity = nameOf(property['key']);
      const variable = nameOf(property['value']);
      if (activity && variable) found.push({ variable, activity, node: property, ...place });
    }
  });
  return found;
}

/** Whether options of activities or child workflows name the task queue of other workers. */
function namesTaskQueue(options: Node | undefined): boolean {
  return !!options && propertiesOf(options).some(({ key }) => nameOf(key) === 'taskQueue');
}

function importedProxies({ program }: ParsedFile, exported: Proxy[]): Proxy[] {
  return importsIn(program).flatMap(({ specifiers }) =>
    specifiers.flatMap((one) => {
      const proxy = exported.find(({ variable }) => variable === nameOf(one['imported']));
      return proxy ? [{ ...proxy, variable: nameOf(one['local'])! }] : [];
    }),
  );
}

function importsIn(program: Node): { node: Node; request: string; specifiers: Node[] }[] {
  return (program['body'] as Node[])
    .filter(({ type }) => type === 'ImportDeclaration')
    .map((node) => ({ node, request: nameOf(node['source'])!, specifiers: node['specifiers'] as Node[] }));
}

/** A tool is in a bundle because a workflow imports it. */
function circularImports(
  { path, program, problemAt }: ParsedFile,
  files: readonly ParsedFile[],
): ProjectProblem[] {
  if (!/\/tools\/[^/]+$/.test(path)) return [];
  return importsIn(program).flatMap(({ node, request }) => {
    const base = resolve(dirname(path), request).replace(/\.[mc]?[jt]s$/, '');
    const other = files.find((file) => file.path.replace(/\.[mc]?[jt]s$/, '') === base);
    if (!request.startsWith('.') || !other || !/\/workflows\//.test(base)) return [];
    const message = `the tool and its workflow import each other ("${request}"), so one of them is half loaded; move what both need to a file of lib/, or import types only (import type)`;
    return [problemAt(node, message)];
  });
}

interface CalledActivity {
  name: string;
  node: Node;
  isElsewhere: boolean;
}

/** The activity that a call calls, with the node that names it. */
function activityOf(call: Node, proxies: readonly Proxy[]): CalledActivity | undefined {
  const callee = call['callee'] as Node;
  if (callee.type !== 'MemberExpression') {
    const proxy = proxies.find(({ variable, activity }) => activity && variable === nameOf(callee));
    return proxy && { name: proxy.activity!, node: callee, isElsewhere: proxy.isElsewhere };
  }
  const [object, property] = [callee['object'] as Node, callee['property'] as Node];
  const proxy = proxies.find(({ variable, activity }) => !activity && variable === nameOf(object));
  const isDirect = PROXIES.includes(calledName(object) ?? '');
  const name = nameOf(property);
  if (!name || !(proxy || isDirect)) return undefined;
  return { name, node: property, isElsewhere: proxy?.isElsewhere ?? false };
}

function unknownActivities(
  file: ParsedFile,
  own: readonly Proxy[],
  proxies: readonly Proxy[],
  known: string[],
): ProjectProblem[] {
  const whole = proxies.filter(({ activity }) => !activity);
  const called: CalledActivity[] = own.flatMap((proxy) =>
    proxy.activity === undefined ? [] : [{ ...proxy, name: proxy.activity }],
  );
  eachCall(file.program, (call) => {
    const activity = activityOf(call, whole);
    if (activity) called.push(activity);
  });
  return called
    .filter(({ name, isElsewhere }) => !isElsewhere && !known.includes(name))
    .map(({ name, node }) => file.problemAt(node, notExported('activities', 'an activity', name, known)));
}

function notExported(folder: string, noun: string, name: string, known: readonly string[]): string {
  const near = didYouMean(name, known) || ';';
  return `no file in ${folder}/ exports ${noun} "${name}"${near} expected export async function ${name}() in ${folder}/`;
}

function eachCall(program: Node, visit: (call: Node, parents: Node[]) => void): void {
  walk(program, (node, parents) => {
    if (node.type === 'CallExpression') visit(node, parents);
  });
}

function unknownChildren(file: ParsedFile, known: readonly string[]): ProjectProblem[] {
  const found: ProjectProblem[] = [];
  eachCall(file.program, (call) => {
    const [type, options] = call['arguments'] as Node[];
    if (!['executeChild', 'startChild'].includes(calledName(call) ?? '') || type?.type !== 'Literal') return;
    const name = String(type['value']);
    if (namesTaskQueue(options) || known.includes(name)) return;
    found.push(file.problemAt(type, notExported('workflows', 'a workflow', name, known)));
  });
  return found;
}

/** Functions of Temporal and Longhaul whose promise has to be awaited. */
const ASYNCHRONOUS = ['sleep', 'condition', 'executeChild', 'startChild', 'continueAsNew', 'requestInput'];
const OF_PROMISES = ['all', 'allSettled', 'any', 'race'];

function lostPromises(file: ParsedFile, proxies: readonly Proxy[]): ProjectProblem[] {
  const { program } = file;
  const imported = importsIn(program)
    .filter(({ request }) => /^(@temporalio|longhaul)\/workflow$/.test(request))
    .flatMap(({ specifiers }) => specifiers)
    .filter(({ imported: name }) => ASYNCHRONOUS.includes(nameOf(name) ?? ''))
    .map(({ local }) => nameOf(local)!);
  const asynchronous = new Set([...imported, ...asyncFunctionsIn(program)]);
  const found: ProjectProblem[] = [];
  eachCall(program, (call, parents) => {
    const callee = call['callee'] as Node;
    const name = activityOf(call, proxies)?.name ?? promiseName(callee, asynchronous);
    if (calledName(call) === 'forEach' && (call['arguments'] as Node[])[0]?.['async'] === true)
      found.push(
        file.problemAt(call, 'forEach() does not wait for an async function; write for (const ... of ...)'),
      );
    else if (name !== undefined && isLost(call, parents, program))
      found.push(file.problemAt(call, `the promise of ${name}() is not awaited; write await ${name}(...)`));
  });
  return found;
}

function promiseName(callee: Node, asynchronous: ReadonlySet<string>): string | undefined {
  if (callee.type === 'Identifier') return asynchronous.has(nameOf(callee)!) ? nameOf(callee) : undefined;
  const method = nameOf(callee['property']) ?? '';
  return nameOf(callee['object']) === 'Promise' && OF_PROMISES.includes(method)
    ? `Promise.${method}`
    : undefined;
}

function asyncFunctionsIn(program: Node): string[] {
  const names: string[] = [];
  walk(program, (node) => {
    const value = node.type === 'VariableDeclarator' ? (node['init'] as Node | null) : node;
    const isNamed = node.type === 'FunctionDeclaration' || node.type === 'VariableDeclarator';
    if (isNamed && value?.['async'] === true) names.push(nameOf(node['id']) ?? '');
  });
  return names;
}

const OPERANDS = ['UnaryExpression', 'BinaryExpression', 'TemplateLiteral'];
const CHAINED = ['then', 'catch', 'finally'];

/** Whether nothing waits for the promise of this expression. `void` says that nobody should. */
function isLost(node: Node, [parent, ...above]: Node[], program: Node): boolean {
  if (!parent) return false;
  if (parent.type === 'ExpressionStatement') return true;
  if (OPERANDS.includes(parent.type)) return parent['operator'] !== 'void';
  if (parent.type === 'IfStatement' || parent.type === 'ConditionalExpression')
    return parent['test'] === node;
  if (parent.type === 'MemberExpression')
    return parent['object'] === node && !CHAINED.includes(nameOf(parent['property']) ?? '');
  if (parent.type === 'Property') return parent['value'] === node && above[1]?.type === 'ReturnStatement';
  if (parent.type !== 'VariableDeclarator') return false;
  const id = parent['id'] as Node;
  if (id.type !== 'Identifier') return true;
  return isNeverAwaited(id, program);
}

/** Whether each use of the variable takes the promise for its value. */
function isNeverAwaited(id: Node, program: Node): boolean {
  let isAwaited = false;
  walk(program, (node, parents) => {
    if (node === id || node.type !== 'Identifier' || nameOf(node) !== nameOf(id)) return;
    isAwaited ||= !isLost(node, parents, program);
  });
  return !isAwaited;
}
