import { amountOfBytes } from '../../core/quantity/amount.js';
import type { Io } from '../../cli/output/io.js';
import { styleFor, type Colour, type Style } from '../../cli/output/style.js';
import type { DemoNode } from './demo-node.js';
import type { WorkloadPlan } from './demo-workload.js';

const REFRESH_MS = 40;
const BAR = 24; // a line fits 80 columns

/** Output while the demo runs: a line per event, and on a terminal bars with the memory of each workload. */
export class Screen {
  readonly #style: Style;
  readonly #startMs = performance.now();
  #gauges: (() => string[]) | undefined;
  #drawn = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly io: Io) {
    this.#style = styleFor(io);
  }

  line(text: string, colour?: Colour): void {
    const time = ((performance.now() - this.#startMs) / 1000).toFixed(2).padStart(6);
    this.#redraw(`${this.#style('dim', `${time} s`)}  ${colour === undefined ? text : this.#style(colour, text)}\n`);
  }

  /** Shows the bars until `still`. */
  watch(node: DemoNode, plans: readonly WorkloadPlan[]): void {
    if (!this.io.isTTY) return;
    const style = this.#style;
    const { limitBytes, thresholdBytes, described } = node;
    const acts = described.cgroup === null ? 'all three' : `evictd evicts above ${amountOfBytes(limitBytes - thresholdBytes)}`;
    this.#gauges = () => [
      '',
      ...plans.map(({ name, what }) => gauge(style, name, node.workingSetBytes(name), limitBytes, 'green', what)),
      gauge(style, 'node', node.workingSetBytes(), limitBytes, 'yellow', acts),
    ];
    this.#timer = setInterval(() => this.#redraw(''), REFRESH_MS);
    this.#redraw('');
  }

  /** Stops updating the bars. */
  still(): void {
    clearInterval(this.#timer);
    if (this.#gauges) this.#redraw('');
    this.#gauges = undefined;
    this.#drawn = 0;
  }

  /** Prints text above the bars. */
  #redraw(text: string): void {
    const lines = this.#gauges?.() ?? [];
    if (this.#drawn > 0) this.io.cursor?.(`\u001b[${String(this.#drawn)}A\u001b[J`);
    this.#drawn = lines.length;
    this.io.stdout(text + lines.map((line) => `${line}\n`).join(''));
  }
}

function gauge(style: Style, name: string, bytes: bigint | undefined, limitBytes: bigint, colour: Colour, what: string): string {
  const share = bytes === undefined ? 0 : Math.min(Number(bytes) / Number(limitBytes), 1);
  const full = Math.round(share * BAR);
  const bar = style(share > 0.75 ? 'red' : colour, '█'.repeat(full)) + style('dim', '·'.repeat(BAR - full));
  return `  ${name.padEnd(6)} ${bar} ${(bytes === undefined ? '' : amountOfBytes(bytes)).padStart(8)}  ${style('dim', what)}`;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Catches signals until `dispose`, so that the demo cleans up; a second Ctrl-C does not stop that. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #caught = (name: NodeJS.Signals): void => {
    this.by ??= name;
    this.#controller.abort();
  };
  /** The first signal; undefined: none came. */
  by: NodeJS.Signals | undefined;

  constructor() {
    for (const name of SIGNALS) process.on(name, this.#caught);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  dispose(): void {
    for (const name of SIGNALS) process.off(name, this.#caught);
  }
}
