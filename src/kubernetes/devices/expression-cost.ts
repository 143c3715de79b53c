import type { ASTNode } from '@marcbachmann/cel-js';

/** The upper bound of a value's size. */
interface Extent {
  /** How often a loop over it runs. */
  readonly items: number;
  /** Characters and elements in all. */
  readonly weight: number;
  /** One of its elements; undefined: as large as all of it. */
  readonly element: Extent | undefined;
}

type Cost = Extent & { readonly cost: number };

type Variables = ReadonlyMap<string, Extent>;

const ONE: Extent = { items: 1, weight: 1, element: undefined };

/** A device has at most 32 attributes and capacities, with names and values of at most 64 characters. */
const TEXT: Extent = { items: 64, weight: 65, element: undefined };
const DOMAIN: Extent = { items: 32, weight: 32 * 2 * TEXT.weight, element: TEXT };
const DEVICE: Extent = { items: 32, weight: 2 * DOMAIN.weight, element: { items: 32, weight: DOMAIN.weight, element: DOMAIN } };

const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/**
 * The most steps that an expression can take on a device, a look at a character counted as a step. An estimate in
 * advance, so that the answer does not depend on the machine.
 */
export function expressionCost(node: ASTNode): number {
  return costOf(node, new Map()).cost;
}

function costOf(node: ASTNode, variables: Variables): Cost {
  switch (node.op) {
    case 'value':
      return { ...(typeof node.args === 'string' ? { ...ONE, weight: node.args.length + 1 } : ONE), cost: 1 };
    case 'id':
      return { ...(variables.get(node.args) ?? DEVICE), cost: 1 };
    case 'rcall':
      return callCost(node.args, variables);
    case '.':
    case '.?':
    case '[]':
    case '[?]': {
      const [of, ...keys] = childrenOf(node.args).map((each) => costOf(each, variables));
      return { ...elementOf(of ?? ONE), cost: sum([of, ...keys], 'cost') + 1 };
    }
    case 'list': {
      const elements = node.args.map((each) => costOf(each, variables));
      const weight = sum(elements, 'weight') + elements.length;
      return { items: elements.length, weight, element: largest(elements), cost: sum(elements, 'cost') + 1 };
    }
    default:
      return plainCost(childrenOf(node.args), variables);
  }
}

/** Its operands, and one look at all of them. Its result is no larger than all of them. */
function plainCost(nodes: readonly ASTNode[], variables: Variables): Cost {
  const operands = nodes.map((each) => costOf(each, variables));
  const [items, weight] = [sum(operands, 'items') + 1, sum(operands, 'weight') + 1];
  return { items, weight, element: largest(operands.map(elementOf)), cost: sum(operands, 'cost') + weight };
}

function callCost([name, receiver, args]: readonly [string, ASTNode, ASTNode[]], variables: Variables): Cost {
  const [variable] = args;
  if (name === 'bind' && receiver.op === 'id' && receiver.args === 'cel' && variable?.op === 'id') {
    const [bound, body] = args.slice(1);
    const value = bound === undefined ? { ...ONE, cost: 1 } : costOf(bound, variables);
    const result = body === undefined ? { ...ONE, cost: 1 } : costOf(body, new Map([...variables, [variable.args, value]]));
    return { ...result, cost: value.cost + result.cost };
  }
  if (!LOOPS.has(name) || variable?.op !== 'id') {
    const plain = plainCost([receiver, ...args], variables);
    // join alone makes more text than it is given, and matches alone looks at a character more than once.
    const factor = name === 'join' || name === 'matches' ? plain.weight : 1;
    return { ...plain, weight: plain.weight * factor, cost: plain.cost + plain.weight * factor };
  }
  const range = costOf(receiver, variables);
  const inLoop = new Map([...variables, [variable.args, elementOf(range)]]);
  const bodies = args.slice(1).map((body) => costOf(body, inLoop));
  const element = name === 'map' ? largest(bodies) : elementOf(range);
  const cost = range.cost + (range.items + 1) * (sum(bodies, 'cost') + 1);
  return { items: range.items, weight: range.items * (element.weight + 1) + 1, element, cost };
}

function elementOf({ element, weight }: Extent): Extent {
  return element ?? { items: weight, weight, element };
}

function sum(costs: readonly (Cost | undefined)[], of: 'items' | 'weight' | 'cost'): number {
  return costs.reduce((total, cost) => total + (cost?.[of] ?? 0), 0);
}

function largest(extents: readonly Extent[]): Extent {
  const most = (of: 'items' | 'weight'): number => extents.reduce((max, extent) => Math.max(max, extent[of]), 1);
  const elements = extents.flatMap(({ element }) => element ?? []);
  const isNested = elements.length > 0 && elements.length === extents.length;
  return { items: most('items'), weight: most('weight'), element: isNested ? largest(elements) : undefined };
}

export function childrenOf(args: unknown): readonly ASTNode[] {
  return [args].flat(3).filter((value): value is ASTNode => typeof value === 'object' && value !== null && 'op' in value);
}
