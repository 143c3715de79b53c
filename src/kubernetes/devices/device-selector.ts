// CEL expressions that select devices (dynamic-resource-allocation, cel; Kubernetes v1.36).
import { Environment, EvaluationError, type ASTNode } from '@marcbachmann/cel-js';
import { attempt, messageOf } from '../../errors.js';
import { SelectorError, type AttributeValue, type Device, type DeviceSelector, type PublishedDevice } from '../../core/devices/device.js';
import { compareQuantities, parseQuantity, QuantityError, type Quantity } from '../../core/quantity/quantity.js';
import { childrenOf, expressionCost } from './expression-cost.js';
import { linearRegExp } from './linear-regexp.js';
import { SemanticVersion } from './semantic-version.js';
import { NANO } from '../../core/quantity/integer.js';

/** CELSelectorExpressionMaxLength */
const MAX_CHARACTERS = 10 * 1024;

/** CELSelectorExpressionMaxCost, in steps of this program. */
const MAX_STEPS = 1_000_000;

/** How `in` finds the domains of a device: all others are empty. */
const OWN = { attributes: 'ownAttributes', capacity: 'ownCapacity' } as const;

/** The type Quantity of expressions. */
class Amount {
  constructor(readonly quantity: Quantity) {}
}

class DraDevice {
  readonly attributes: Domains;
  readonly capacity: Domains;

  constructor(
    readonly driver: string,
    readonly ownAttributes: Domains,
    readonly ownCapacity: Domains,
  ) {
    this.attributes = withDefault(ownAttributes);
    this.capacity = withDefault(ownCapacity);
  }
}

type Domains = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/** A domain that a device does not have is empty. The library knows a Map by its constructor, and a subclass is none. */
function withDefault(domains: Domains): Domains {
  const empty = new Map<string, unknown>();
  return Object.assign(new Map(domains), { get: (domain: string) => domains.get(domain) ?? empty });
}

const environment = new Environment({ enableOptionalTypes: true })
  .registerType('kubernetes.Quantity', { ctor: Amount, fields: {} })
  .registerType('kubernetes.Semver', { ctor: SemanticVersion, fields: {} })
  .registerType('kubernetes.DRADevice', {
    ctor: DraDevice,
    fields: {
      driver: 'string',
      attributes: 'map<string, map<string, dyn>>',
      capacity: 'map<string, map<string, kubernetes.Quantity>>',
      [OWN.attributes]: 'map<string, map<string, dyn>>',
      [OWN.capacity]: 'map<string, map<string, kubernetes.Quantity>>',
    },
  })
  .registerVariable('device', 'kubernetes.DRADevice');

type Handler = (...args: never[]) => unknown;

const FUNCTIONS: Readonly<Record<string, Handler>> = {
  'quantity(string): kubernetes.Quantity': (text: string) => new Amount(quantityIn(text)),
  'isQuantity(string): bool': (text: string) => isQuantity(text),
  'kubernetes.Quantity.sign(): int': ({ quantity: { nano } }: Amount) => BigInt(Number(nano > 0n) - Number(nano < 0n)),
  'kubernetes.Quantity.isInteger(): bool': ({ quantity: { nano } }: Amount) => isInt64(nano),
  'kubernetes.Quantity.asInteger(): int': ({ quantity: { nano } }: Amount) => integerIn(nano),
  'kubernetes.Quantity.asApproximateFloat(): double': ({ quantity: { nano } }: Amount) => Number(nano) / 1e9,
  'kubernetes.Quantity.compareTo(kubernetes.Quantity): int': (one: Amount, other: Amount) => compareAmounts(one, other),
  'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool': (one: Amount, other: Amount) => compareAmounts(one, other) > 0n,
  'kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool': (one: Amount, other: Amount) => compareAmounts(one, other) < 0n,
  'kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity': (one: Amount, other: Amount) => plus(one, other.quantity.nano),
  'kubernetes.Quantity.add(int): kubernetes.Quantity': (one: Amount, other: bigint) => plus(one, other * NANO),
  'kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity': (one: Amount, other: Amount) => plus(one, -other.quantity.nano),
  'kubernetes.Quantity.sub(int): kubernetes.Quantity': (one: Amount, other: bigint) => plus(one, -other * NANO),
  'semver(string): kubernetes.Semver': (text: string) => versionIn(text, false),
  'semver(string, bool): kubernetes.Semver': (text: string, isLoose: boolean) => versionIn(text, isLoose),
  'isSemver(string): bool': (text: string) => SemanticVersion.parse(text) !== undefined,
  'isSemver(string, bool): bool': (text: string, isLoose: boolean) => parseVersion(text, isLoose) !== undefined,
  'kubernetes.Semver.major(): int': ({ major }: SemanticVersion) => major,
  'kubernetes.Semver.minor(): int': ({ minor }: SemanticVersion) => minor,
  'kubernetes.Semver.patch(): int': ({ patch }: SemanticVersion) => patch,
  'kubernetes.Semver.compareTo(kubernetes.Semver): int': (one: SemanticVersion, other: SemanticVersion) => one.compareTo(other),
  'kubernetes.Semver.isGreaterThan(kubernetes.Semver): bool': (one: SemanticVersion, other: SemanticVersion) => one.compareTo(other) > 0n,
  'kubernetes.Semver.isLessThan(kubernetes.Semver): bool': (one: SemanticVersion, other: SemanticVersion) => one.compareTo(other) < 0n,
  'string.matchesInLinearTime(string): bool': (text: string, pattern: string) => linearRegExp(pattern).test(text),
};
for (const [signature, handler] of Object.entries(FUNCTIONS)) environment.registerFunction(signature, handler);
environment.registerOperator(
  'kubernetes.Quantity == kubernetes.Quantity',
  (one: Amount, other: Amount) => compareAmounts(one, other) === 0n,
);
environment.registerOperator(
  'kubernetes.Semver == kubernetes.Semver',
  (one: SemanticVersion, other: SemanticVersion) => one.compareTo(other) === 0n,
);

/**
 * Compiles an expression once. The answer for a device is kept.
 *
 * An expression that does not compile selects nothing: each use is an error, as in Kubernetes. So is one that may take
 * too many steps.
 */
export function compileSelector(expression: string): DeviceSelector {
  const answers = new WeakMap<Device, boolean>();
  let evaluate: (context: { device: DraDevice }) => unknown;
  try {
    evaluate = compiled(expression);
  } catch (error) {
    const message = firstLine(error);
    return () => {
      throw new SelectorError('compile', `compilation failed: ${message}`);
    };
  }
  return (published) => {
    const known = answers.get(published.device);
    if (known !== undefined) return known;
    const answer = evaluated(evaluate, published);
    answers.set(published.device, answer);
    return answer;
  };
}

function compiled(expression: string): (context: { device: DraDevice }) => unknown {
  if (expression.length > MAX_CHARACTERS) throw new EvaluationError(`it has more than ${String(MAX_CHARACTERS)} characters`);
  const { ast } = environment.parse(expression);
  const program = environment.parse(`${expression.slice(0, ast.start)}${adapted(ast)}${expression.slice(ast.end)}`);
  const checked = program.check();
  if (!checked.valid) throw checked.error ?? new EvaluationError('wrong types');
  if (checked.type !== 'bool' && checked.type !== 'dyn')
    throw new EvaluationError(`must evaluate to bool or the unknown type, not ${checked.type ?? 'nothing'}`);
  const steps = expressionCost(ast);
  if (steps > MAX_STEPS)
    throw new EvaluationError(`it may take ${String(steps)} steps on a device, more than the limit of ${String(MAX_STEPS)}`);
  return program;
}

function evaluated(evaluate: (context: { device: DraDevice }) => unknown, published: PublishedDevice): boolean {
  let answer: unknown;
  try {
    answer = evaluate({ device: deviceOf(published) });
  } catch (error) {
    throw new SelectorError('runtime', firstLine(error));
  }
  if (typeof answer !== 'boolean') throw new SelectorError('runtime', `the result is not a bool but ${typeof answer}`);
  return answer;
}

/**
 * The text of an expression in the library's words: `has(x["y"].z)` is `("z" in (x["y"]))`, as the library knows `has`
 * only after names, and `matches` is a function that takes linear time.
 */
function adapted(node: ASTNode): string {
  if (node.op === 'call' && node.args[0] === 'has') {
    const [field] = node.args[1];
    if (field?.op === '.' && !isPath(field)) return `(${JSON.stringify(field.args[1])} in (${adapted(field.args[0])}))`;
  }
  if (node.op === 'in' && node.args[1].op === '.' && node.args[1].args[0].op === 'id' && node.args[1].args[0].args === 'device') {
    const field = node.args[1].args[1];
    if (field === 'attributes' || field === 'capacity') return `(${adapted(node.args[0])} in device.${OWN[field]})`;
  }
  let text = '';
  let at = node.start;
  for (const child of [...childrenOf(node.args)].sort((one, other) => one.start - other.start)) {
    text += renamed(node, node.input.slice(at, child.start)) + adapted(child);
    at = child.end;
  }
  return text + renamed(node, node.input.slice(at, node.end));
}

function renamed(node: ASTNode, text: string): string {
  return node.op === 'rcall' && node.args[0] === 'matches' ? text.replace(/\.(\s*)matches\b/, '.$1matchesInLinearTime') : text;
}

/** a.b.c */
function isPath(node: ASTNode): boolean {
  return node.op === 'id' || ((node.op === '.' || node.op === '.?') && isPath(node.args[0]));
}

function deviceOf({ slice: { driver }, device }: PublishedDevice): DraDevice {
  const attributes = [...device.attributes].map(([name, value]) => [name, valueOf(value)] as const);
  const capacity = [...device.capacity].map(([name, quantity]) => [name, new Amount(quantity)] as const);
  return new DraDevice(driver, byDomain(attributes, driver), byDomain(capacity, driver));
}

function valueOf({ kind, value }: AttributeValue): unknown {
  return kind === 'version' ? versionIn(value, false) : value;
}

function byDomain(named: readonly (readonly [string, unknown])[], driver: string): Domains {
  const domains = new Map<string, Map<string, unknown>>();
  for (const [name, value] of named) {
    const slash = name.indexOf('/');
    const domain = slash < 0 ? driver : name.slice(0, slash);
    const ofDomain = domains.get(domain) ?? new Map<string, unknown>();
    domains.set(domain, ofDomain.set(name.slice(slash + 1), value));
  }
  return domains;
}

function compareAmounts(one: Amount, other: Amount): bigint {
  return BigInt(compareQuantities(one.quantity, other.quantity));
}

function plus({ quantity }: Amount, nano: bigint): Amount {
  return new Amount({ ...quantity, nano: quantity.nano + nano });
}

function quantityIn(text: string): Quantity {
  try {
    return parseQuantity(text);
  } catch (error) {
    throw error instanceof QuantityError ? new EvaluationError(error.message) : error;
  }
}

function isQuantity(text: string): boolean {
  return attempt(() => parseQuantity(text).text !== '') ?? false;
}

function isInt64(nano: bigint): boolean {
  return nano % NANO === 0n && BigInt.asIntN(64, nano / NANO) === nano / NANO;
}

function integerIn(nano: bigint): bigint {
  if (!isInt64(nano)) throw new EvaluationError('cannot convert value to integer');
  return nano / NANO;
}

function parseVersion(text: string, isLoose: boolean): SemanticVersion | undefined {
  return isLoose ? SemanticVersion.parseLoosely(text) : SemanticVersion.parse(text);
}

function versionIn(text: string, isLoose: boolean): SemanticVersion {
  const version = parseVersion(text, isLoose);
  if (version === undefined) throw new EvaluationError(`parse semantic version: ${JSON.stringify(text)} is none`);
  return version;
}

/** The message without the lines of the library that point at the place. */
function firstLine(error: unknown): string {
  return messageOf(error).split('\n')[0] ?? '';
}
