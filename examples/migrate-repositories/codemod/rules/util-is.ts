import { Node, SyntaxKind, type CallExpression, type NewExpression } from 'ts-morph';
import { isMember } from '../node-api.js';
import type { Rule, Verdict } from '../rule.js';

/** Text before and after the argument. A `!` before the call inverts the operator. */
const COMPARISONS: Record<string, [string, string]> = {
  isBoolean: ['typeof ', " === 'boolean'"],
  isFunction: ['typeof ', " === 'function'"],
  isNumber: ['typeof ', " === 'number'"],
  isString: ['typeof ', " === 'string'"],
  isSymbol: ['typeof ', " === 'symbol'"],
  isNull: ['', ' === null'],
  isNullOrUndefined: ['', ' == null'],
  isUndefined: ['', ' === undefined'],
};

/** Functions that do the same. `util` stays if it is needed. */
const FUNCTIONS: Record<string, (util: string) => string> = {
  isArray: () => 'Array.isArray',
  isBuffer: () => 'Buffer.isBuffer',
  isDate: (util) => `${util}.types.isDate`,
  isRegExp: (util) => `${util}.types.isRegExp`,
};

/** Tests that read their argument twice. */
const TWICE: Record<string, (value: string, util: string) => [string, string]> = {
  isError: (value, util) => [`(${value} instanceof Error || ${util}.types.isNativeError(`, '))'],
  isObject: (value) => [`(${value} !== null && typeof `, " === 'object')"],
  isPrimitive: (value) => [`(${value} !== Object(`, '))'],
};

/** DEP0044 to DEP0058: `util.isString` and the like, which Node.js 23 has removed. */
export const utilIs: Rule = {
  apis: [...Object.keys(COMPARISONS), ...Object.keys(FUNCTIONS), ...Object.keys(TWICE)].map(
    (name) => `util.${name}`,
  ),
  migrate(call, api) {
    const callee = call.getExpression();
    if (!isMember(callee) || !Node.isPropertyAccessExpression(callee))
      return { left: `${api} is imported by name: remove the import` };
    const name = callee.getName();
    const util = callee.getExpression().getText();
    const replacement = FUNCTIONS[name]?.(util);
    if (replacement) return { edits: [{ from: callee.getStart(), to: callee.getEnd(), text: replacement }] };
    const [value] = call.getArguments();
    if (!value || Node.isSpreadElement(value) || !isAlone(call, value))
      return { left: `${api} with no argument, several, or a comment` };
    if (COMPARISONS[name]) return compare(call, value, COMPARISONS[name]);
    if (!Node.isIdentifier(value)) return { left: `${api}: the argument would be evaluated twice` };
    return around(call, value, TWICE[name]!(value.getText(), util));
  },
};

/** Makes a comparison of the call, `!==` of `!` and `===`, in parentheses where something binds closer. */
function compare(call: Node, value: Node, [before, after]: [string, string]): Verdict {
  const parent = call.getParent();
  const isNegated =
    Node.isPrefixUnaryExpression(parent) && parent.getOperatorToken() === SyntaxKind.ExclamationToken;
  const whole = isNegated ? parent : call;
  const operator = isNegated ? after.replace(/^ ==/, ' !=') : after;
  const [open, close] = isSimple(value) ? ['', ''] : ['(', ')'];
  const [left, right] = standsAlone(whole) ? ['', ''] : ['(', ')'];
  return around(whole, value, [`${left}${before}${open}`, `${close}${operator}${right}`]);
}

function around(whole: Node, value: Node, [before, after]: [string, string]): Verdict {
  return {
    edits: [
      { from: whole.getStart(), to: value.getStart(), text: before },
      { from: value.getEnd(), to: whole.getEnd(), text: after },
    ],
  };
}

/** Whether nothing but brackets would be lost with the call. */
function isAlone(call: CallExpression | NewExpression, value: Node): boolean {
  const text = call.getSourceFile().getFullText();
  const before = text.slice(call.getExpression().getEnd(), value.getStart());
  return /^\s*\(\s*$/.test(before) && /^\s*,?\s*\)$/.test(text.slice(value.getEnd(), call.getEnd()));
}

function isSimple(value: Node): boolean {
  return (
    Node.isIdentifier(value) ||
    Node.isPropertyAccessExpression(value) ||
    Node.isElementAccessExpression(value) ||
    Node.isCallExpression(value) ||
    Node.isParenthesizedExpression(value) ||
    Node.isThisExpression(value) ||
    Node.isLiteralExpression(value)
  );
}

/** Whether a comparison may take the place of this expression without parentheses. */
function standsAlone(expression: Node): boolean {
  const parent = expression.getParent();
  if (Node.isBinaryExpression(parent)) {
    const operator = parent.getOperatorToken().getText();
    return operator === '&&' || operator === '||' || (operator === '=' && parent.getRight() === expression);
  }
  if (Node.isCallExpression(parent) || Node.isNewExpression(parent))
    return parent.getExpression() !== expression;
  return (
    Node.isStatement(parent) ||
    Node.isVariableDeclaration(parent) ||
    Node.isPropertyAssignment(parent) ||
    Node.isArrowFunction(parent) ||
    Node.isParenthesizedExpression(parent) ||
    Node.isConditionalExpression(parent)
  );
}
