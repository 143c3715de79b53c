import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import { managedPolicies } from '../../core/policy/managed-policies.js';
import type { ManagedOom } from '../../monitor/ports/managed-oom.js';
import type { StepListener, StepReport, WakeSource } from '../../monitor/ports/ports.js';

const TICKS: ReadonlySet<WakeSource> = new Set(['start', 'tick', 'reload']);

/** Follows, from tick to tick, the policies that settings of units and memory nodes of workloads make. */
export class UnitPolicies implements StepListener {
  /** The last policies as text, to compare with: each reading makes new objects. */
  #known = textOf([]);

  /**
   * @param managedOom  undefined: no source selects managed units
   * @param ofMemoryNodes  see MemoryNodePolicies
   * @param changed  called when no pass is under way
   */
  constructor(
    private readonly managedOom: () => ManagedOom | undefined,
    private readonly ofMemoryNodes: (nowNs: bigint, isNew: boolean) => readonly ConfiguredPolicy[],
    private readonly changed: (policies: readonly ConfiguredPolicy[]) => void,
  ) {}

  stepped({ wake: { source, atNs } }: Pick<StepReport, 'wake'>): void {
    if (TICKS.has(source)) this.#look(atNs, source !== 'tick');
  }

  skipped(nowNs: bigint): boolean {
    this.managedOom()?.look(nowNs);
    this.#look(nowNs, false);
    return true;
  }

  close(): void {
    this.#known = textOf([]);
  }

  /** @param isNew  after the start and a reload */
  #look(nowNs: bigint, isNew: boolean): void {
    const managedOom = this.managedOom();
    const settings = managedOom?.read();
    if (managedOom !== undefined && settings === undefined) return; // systemd has not answered yet
    const policies = [...(settings === undefined ? [] : managedPolicies(settings)), ...this.ofMemoryNodes(nowNs, isNew)];
    const text = textOf(policies);
    if (text === this.#known) return;
    this.#known = text;
    queueMicrotask(() => {
      this.changed(policies);
    });
  }
}

function textOf(policies: readonly ConfiguredPolicy[]): string {
  if (policies.length === 0) return '[]'; // at every tick
  return JSON.stringify(policies, (_key, value: unknown) => (typeof value === 'bigint' ? `${String(value)}n` : value));
}
