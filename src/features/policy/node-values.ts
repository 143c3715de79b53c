import type { NodeValue, RawValue } from '../../core/policy/raw-value.js';
import type { ScopeReading } from '../../core/policy/scope-reading.js';
import { OWN_AMOUNT_SIGNALS, type OwnAmountSignal } from '../../core/signal/signal.js';
import { containerRoot } from '../../host/linux/cgroup/hierarchies.js';
import { amountSources, type AmountSource } from '../../host/linux/memory/swap.js';
import { KernelPass, type KernelSource } from '../../host/linux/sampling/kernel-source.js';
import { CgroupValues, type CgroupValuesParts } from './cgroup-values.js';
import { valueFiles } from './value-files.js';

export interface NodeValuesParts extends CgroupValuesParts {
  /** The node's cgroup; undefined: the machine. */
  readonly node: string | undefined;
}

type Values = Map<RawValue, number>;

/** Raw values of the node. What a step observes anyway comes from there. */
export class NodeValues {
  readonly #pass: KernelPass;
  readonly #machine: KernelSource<(values: Values) => void>;
  readonly #amounts: readonly (readonly [OwnAmountSignal, AmountSource])[];
  /** A cgroup as the node. */
  readonly #cgroup: CgroupValues | undefined;

  constructor(parts: NodeValuesParts, values: ReadonlySet<RawValue>) {
    const { native, node, hierarchies } = parts;
    const { memory } = hierarchies;
    this.#cgroup = node === undefined ? undefined : new CgroupValues(parts, values);
    if (node !== undefined) this.#cgroup?.follow(new Map([[node, values]]));
    const amounts = amountSources(node === undefined ? containerRoot(memory) : memory && { hierarchy: memory, path: node });
    const wanted = OWN_AMOUNT_SIGNALS.filter((signal) => values.has(signal) || values.has(`${signal}.capacity`));
    this.#amounts = wanted.map((signal) => [signal, amounts[signal]] as const);
    // A v1 cgroup has no pressure of its own: as with thresholds, it is the machine's.
    this.#machine = ofMachine(new Set([...values].filter((value) => node === undefined || value.includes('.pressure.'))));
    this.#pass = new KernelPass(native, [this.#machine, ...this.#amounts.map(([, source]) => source)]);
  }

  read(): ScopeReading {
    const timeNs = process.hrtime.bigint();
    this.#pass.read();
    const values: Values = new Map();
    this.#pass.of(this.#machine)(values);
    for (const [signal, source] of this.#amounts) {
      const reading = this.#pass.of(source);
      if ('missing' in reading) continue;
      values.set(signal, Number(reading.narrowest.available));
      values.set(`${signal}.capacity` satisfies NodeValue, Number(reading.narrowest.capacity));
    }
    for (const reading of this.#cgroup?.read().values() ?? []) for (const [value, known] of reading.values) values.set(value, known);
    return { path: '', timeNs, values };
  }

  close(): void {
    this.#cgroup?.close();
    this.#pass.close();
  }
}

function ofMachine(values: ReadonlySet<RawValue>): KernelSource<(values: Values) => void> {
  const files = valueFiles('node', values);
  return {
    files: files.specs,
    read: (fields) => (into) => {
      files.read(fields, 0, into);
    },
  };
}
