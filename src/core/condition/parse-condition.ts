import { formatDuration } from '../quantity/duration.js';
import { COMPARISONS, type Comparison, type Condition, type MetricReference, type ScopeKind } from '../policy/condition.js';
import { METRICS } from '../policy/metric.js';
import { acceptedAmounts, constantComparison, durationOf, readAmount, refuseSpace } from './condition-amount.js';
import { ConditionProblem, type ConditionFault } from './condition-problem.js';
import { scanCondition, type Token } from './condition-scan.js';
import { cgroupAlone, readMetric } from './metric-reference.js';

/** The names and scope that a text is checked against. */
export interface ConditionContext {
  readonly scope: ScopeKind;
  /** The window of a pressure metric without `over`. */
  readonly pressureWindowNs: bigint;
}

export type ParsedCondition =
  /** `offsets`: where each test begins, in the order of testsOf. */
  | { readonly condition: Condition; readonly offsets: readonly number[] }
  | { readonly problems: readonly [ConditionProblem, ...ConditionProblem[]] };

/** The window of a trend without `over`. */
const TREND_WINDOW_NS = 10_000_000_000n;
/** How long a policy can look back. */
export const WINDOW_NS = { least: 1_000_000_000n, most: 3_600_000_000_000n } as const;
/** Each test is judged in every pass. */
const MAX_TESTS = 32;
const MAX_DEPTH = 16;

/** Short names after `of`. */
const BASES: Readonly<Record<string, string>> = { limit: 'memory.max', request: 'memory.request' };
/** Words of other languages, and the word that is meant. */
const MEANT: Readonly<Record<string, string>> = {
  '&&': '&',
  '||': '|',
  '!=': '!(… )',
  '==': '>= or <=',
  '=': '>= or <=',
  and: '&',
  or: '|',
  not: '!',
  xor: '(A & !B) | (!A & B)',
  ',': '& or |',
  ';': '& or |',
  for: 'the key for: 10s',
  unless: 'the key unless: CONDITION',
};

function meant({ text }: Token): string | undefined {
  const word = text.toLowerCase();
  return Object.hasOwn(MEANT, word) ? MEANT[word] : undefined;
}

/**
 * Reads a condition: tests joined by `!`, `&` and `|`, in this order of precedence, and parentheses. Every text gives a
 * condition or what is wrong with it; tests are checked separately, so that several problems are found at once.
 */
export function parseCondition(text: string, context: ConditionContext): ParsedCondition {
  const parser = new ConditionParser(scanCondition(text), context);
  const condition = parser.read();
  const [first, ...others] = parser.problems;
  if (first !== undefined) return { problems: [first, ...others] };
  return { condition, offsets: parser.offsets };
}

/** A placeholder for what could not be read. */
const UNREAD: Condition = { kind: 'exists', metric: { name: 'memory.current', of: 'node' } };

class ConditionParser {
  readonly problems: ConditionProblem[] = [];
  readonly offsets: number[] = [];
  #next = 0;
  #tests = 0;
  #depth = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly context: ConditionContext,
  ) {}

  read(): Condition {
    return this.#recovering(() => {
      if (this.#peek().kind === 'end') throw this.#problem('is empty', 'write a test, like memory.available < 10%');
      const condition = this.#joined('or');
      if (this.#peek().kind === 'end') return condition;
      if (this.#peek().text === ')') throw this.#problem('")" without "("', 'remove it');
      throw this.#unexpected('& or |');
    });
  }

  #peek(): Token {
    const token = this.tokens[Math.min(this.#next, this.tokens.length - 1)];
    if (token === undefined) throw new Error('a condition has at least the token at its end');
    return token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }

  /** Takes the operator. Another language's word for it is a problem, and reading goes on behind it. */
  #takes(operator: string, expected: string): boolean {
    const token = this.#peek();
    if (token.text !== operator && meant(token) !== operator) return false;
    if (token.text !== operator) this.problems.push(this.#unexpected(expected));
    this.#take();
    return true;
  }

  #joined(kind: 'and' | 'or'): Condition {
    const operator = kind === 'or' ? '|' : '&';
    const part = (): Condition => (kind === 'or' ? this.#joined('and') : this.#negated());
    const first = part();
    const others: Condition[] = [];
    while (this.#takes(operator, '& or |')) others.push(part());
    if (others.length === 0) return first;
    // (a & b) & c is a & b & c.
    return { kind, conditions: [first, ...others].flatMap((one) => (one.kind === kind ? one.conditions : [one])) };
  }

  #negated(): Condition {
    const negation = this.#peek();
    if (this.#takes('!', 'a metric')) {
      this.#enter(negation);
      const condition = this.#negated();
      this.#depth -= 1;
      return { kind: 'not', condition };
    }
    if (this.#peek().text !== '(') {
      this.#tests += 1;
      if (this.#tests > MAX_TESTS) throw this.#problem(`more than ${String(MAX_TESTS)} tests`, 'write several policies');
      return this.#recovering(() => this.#test());
    }
    const open = this.#take();
    this.#enter(open);
    const condition = this.#joined('or');
    this.#depth -= 1;
    if (this.#peek().text === ')') this.#take();
    else if (this.#peek().kind === 'end') throw new ConditionProblem('CONDITION', open.offset, '"(" without ")"', 'add ) at its end');
    else throw this.#unexpected('&, | or )');
    return condition;
  }

  /** Bounds the recursion. */
  #enter({ offset }: Token): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH)
      throw new ConditionProblem('CONDITION', offset, `nested deeper than ${String(MAX_DEPTH)} levels`, 'write several policies');
  }

  /** Reads a test; after a problem, reading goes on behind the test. */
  #recovering(read: () => Condition): Condition {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConditionProblem)) throw error;
      this.problems.push(error);
      this.#skip();
      return UNREAD;
    }
  }

  /** Skips to the next operator outside of parentheses that open here. */
  #skip(): void {
    let open = 0;
    for (let token = this.#peek(); token.kind !== 'end'; token = this.#peek()) {
      const { text } = token;
      if (open === 0 && ['&', '|', ')'].includes(meant(token) ?? text)) return;
      open += text === '(' ? 1 : text === ')' ? -1 : 0;
      this.#take();
    }
  }

  #test(): Condition {
    const name = this.#take();
    if (name.kind !== 'word' || meant(name) !== undefined) {
      this.#next -= 1;
      throw this.#unexpected('a metric');
    }
    this.offsets.push(name.offset);
    const next = this.#peek();
    const path = cgroupAlone(name);
    if (path !== undefined) {
      if (next.text !== 'exists') throw this.#problem(`${name.text} is not a metric`, `write ${name.text}.memory.current, or exists`);
      this.#take();
      return { kind: 'exists', metric: { name: 'age', of: 'cgroup', path } };
    }
    const metric = readMetric(name, name.text, this.context.scope);
    switch (next.text) {
      case 'exists':
        this.#take();
        return { kind: 'exists', metric };
      case 'rising':
      case 'falling':
        this.#take();
        return { kind: 'trend', metric, direction: next.text, windowNs: this.#over() ?? TREND_WINDOW_NS };
      default:
        return this.#comparison(metric);
    }
  }

  #comparison(metric: MetricReference): Condition {
    const accepted = acceptedAmounts(METRICS[metric.name]).text;
    const operator = this.#peek();
    const comparison = COMPARISONS.find((one) => one === operator.text);
    if (comparison === undefined) {
      const foreign = operator.text.includes('=') ? undefined : `compare it with ${accepted}`;
      throw this.#unexpected(`<, <=, >, >=, exists, rising or falling after ${metric.name}`, foreign);
    }
    this.#take();
    const amount = this.#peek();
    if (amount.kind !== 'word')
      throw new ConditionProblem('AMOUNT', amount.offset, `${metric.name} ${operator.text} has no amount`, `write ${accepted}`);
    this.#take();
    refuseSpace(amount, this.#peek());
    const read = readAmount(metric, amount, this.#base());
    const constant = constantComparison(metric, comparison, read);
    if (constant !== undefined) {
      const of = read.kind === 'share' && read.of !== undefined ? ` of ${read.of.name}` : '';
      const message = `${metric.name} ${comparison} ${read.text}${of} ${constant} holds`;
      throw new ConditionProblem('AMOUNT', amount.offset, message, 'compare with another amount');
    }
    return { kind: 'comparison', metric, comparison, amount: read, ...this.#window(metric, comparison, read.text) };
  }

  #base(): { readonly metric: MetricReference; readonly token: Token } | undefined {
    if (this.#peek().text !== 'of') return undefined;
    this.#take();
    const token = this.#take();
    if (token.kind !== 'word')
      throw new ConditionProblem('METRIC', token.offset, '"of" without a metric', 'write of memory.max, or of memory.request');
    return { metric: readMetric(token, BASES[token.text] ?? token.text, this.context.scope), token };
  }

  /** `over` is required where a metric has no value at an instant, and refused where it has nothing but that. */
  #window(metric: MetricReference, comparison: Comparison, amount: string): { readonly windowNs?: bigint } {
    const { kind } = METRICS[metric.name];
    const over = this.#peek();
    const windowNs = this.#over();
    if (kind === 'level' && windowNs !== undefined) {
      throw new ConditionProblem(
        'CONDITION',
        over.offset,
        `${metric.name} is a value at an instant, without a window`,
        'remove "over", and use the key for',
      );
    }
    if (kind === 'level') return {};
    if (windowNs !== undefined) return { windowNs };
    if (kind === 'stall') return { windowNs: this.context.pressureWindowNs };
    const message = `${metric.name} needs the time that it is measured over`;
    throw new ConditionProblem('CONDITION', over.offset, message, `write ${metric.name} ${comparison} ${amount} over 30s`);
  }

  #over(): bigint | undefined {
    if (this.#peek().text !== 'over') return undefined;
    this.#take();
    const token = this.#take();
    refuseSpace(token, this.#peek());
    const windowNs = durationOf(token, token.kind === 'word' ? token.text : '', 'CONDITION');
    if (windowNs >= WINDOW_NS.least && windowNs <= WINDOW_NS.most) return windowNs;
    const hint = `from ${formatDuration(WINDOW_NS.least)} to ${formatDuration(WINDOW_NS.most)}`;
    throw new ConditionProblem('CONDITION', token.offset, `out of range: ${token.text}`, hint);
  }

  #unexpected(expected: string, hint?: string): ConditionProblem {
    const token = this.#peek();
    const seen = token.kind === 'end' ? 'it ends here' : `got ${JSON.stringify(token.text)}`;
    const write = meant(token) ?? (/^\d+(?:\.\d+)?[smh]/.test(token.text) ? `over ${token.text}` : undefined);
    return this.#problem(`expected ${expected}: ${seen}`, hint ?? (write === undefined ? '' : `write ${write}`));
  }

  #problem(message: string, hint: string, fault: ConditionFault = 'CONDITION'): ConditionProblem {
    return new ConditionProblem(fault, this.#peek().offset, message, hint);
  }
}
