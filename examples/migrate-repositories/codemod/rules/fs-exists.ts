import { Node, type ArrowFunction, type FunctionExpression } from 'ts-morph';
import { isMember } from '../node-api.js';
import type { Edit, Rule, Verdict } from '../rule.js';

/** DEP0034: `fs.exists(path, (exists) => ...)` is `fs.access(path, (error) => ...)`, with `exists` as `!error`. */
export const fsExists: Rule = {
  apis: ['fs.exists'],
  migrate(call) {
    const callee = call.getExpression();
    const [path, callback] = call.getArguments();
    if (!isMember(callee) || !Node.isPropertyAccessExpression(callee))
      return { left: 'fs.exists is imported by name: import access instead' };
    if (!path || !callback || call.getArguments().length !== 2)
      return { left: 'fs.exists without a path and a callback' };
    const name = callee.getNameNode();
    const rename = { from: name.getStart(), to: name.getEnd(), text: 'access' };
    const verdict = adapt(callback);
    return 'left' in verdict ? verdict : { edits: [rename, ...verdict.edits] };
  },
};

/** Makes a callback for an error of one for a boolean. */
function adapt(callback: Node): Verdict {
  if (Node.isIdentifier(callback)) {
    const error = callback.getText() === 'error' ? 'failure' : 'error';
    return {
      edits: [insert(callback.getStart(), `(${error}) => `), insert(callback.getEnd(), `(!${error})`)],
    };
  }
  if (!Node.isArrowFunction(callback) && !Node.isFunctionExpression(callback))
    return { left: 'the callback of fs.exists is neither a function nor a variable' };
  const [parameter, ...others] = callback.getParameters();
  if (!parameter) return { edits: [] };
  const name = parameter.getName();
  const text = callback.getText();
  const error = ['error', 'failure'].find((one) => !new RegExp(`\\b${one}\\b`).test(text));
  // Each would make the constant another thing than the parameter is.
  const isOdd = new RegExp(
    `\\b(var|let|const|function|class)\\s+${name}\\b|\\b${name}\\s*([-+*/|&?]|\\*\\*)?=[^=>]|\\barguments\\b`,
  ).test(callback.getBody().getText());
  if (others.length > 0 || !Node.isIdentifier(parameter.getNameNode()) || !error || isOdd)
    return { left: 'the callback of fs.exists does more with its parameter than read it' };
  const rename = { from: parameter.getStart(), to: parameter.getEnd(), text: error };
  const body = declare(callback, `const ${name} = !${error};`);
  return body ? { edits: [rename, ...body] } : { left: 'the callback of fs.exists begins with a directive' };
}

/** Edits that put a statement first. @returns undefined if it can't be first */
function declare(callback: ArrowFunction | FunctionExpression, statement: string): Edit[] | undefined {
  const body = callback.getBody();
  if (!Node.isBlock(body))
    return [insert(body.getStart(), `{ ${statement} return `), insert(body.getEnd(), '; }')];
  const [first] = body.getStatements();
  if (!first) return [];
  if (Node.isExpressionStatement(first) && Node.isStringLiteral(first.getExpression())) return undefined;
  const isOneLine = body.getStartLineNumber() === first.getStartLineNumber();
  const text = first.getSourceFile().getFullText();
  const indent = text.slice(text.lastIndexOf('\n', first.getStart()) + 1, first.getStart());
  const space = isOneLine ? ' ' : `\n${indent}`;
  return [insert(body.getStart() + 1, `${space}${statement}`)];
}

function insert(at: number, text: string): Edit {
  return { from: at, to: at, text };
}
