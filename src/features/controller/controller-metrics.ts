import { Counter, Gauge, Registry } from 'prom-client';
import type { Controller } from '../../core/cluster/controller.js';
import type { ZoneHealth } from '../../core/cluster/node-lifecycle.js';

/** What gauges read at a scrape. */
export interface ControllerValues {
  readonly leads: boolean;
  readonly synced: boolean;
  readonly parts: readonly {
    readonly controller: Controller;
    readonly isActive: boolean;
    readonly managerRuns: boolean | 'unknown';
  }[];
  readonly zones: readonly ZoneHealth[];
  readonly isHalted: boolean;
  readonly nodes: number;
  readonly pods: number;
  readonly lists: number;
  readonly queued: number;
  readonly failedActions: number;
}

type Sample = readonly [value: number, ...labels: string[]];

/** Gauges: names, help, labels, and what they read. */
const GAUGES: readonly (readonly [
  name: string,
  help: string,
  labels: readonly string[],
  read: (of: ControllerValues) => readonly Sample[],
])[] = [
  ['leader_election_master_status', '1 if this process leads, else 0.', [], ({ leads }) => [[Number(leads)]]],
  ['synced', '1 if pods, nodes and leases have been listed, else 0.', [], ({ synced }) => [[Number(synced)]]],
  [
    'part_active',
    '1 if this process runs the part, else 0.',
    ['controller'],
    ({ parts }) => parts.map(({ controller, isActive }): Sample => [Number(isActive), controller]),
  ],
  [
    'kube_controller_manager_active',
    '1 if kube-controller-manager runs the part, 0 if it does not; absent if evictd does not know.',
    ['controller'],
    ({ parts }) =>
      parts.flatMap(({ controller, managerRuns }): Sample[] => (managerRuns === 'unknown' ? [] : [[Number(managerRuns), controller]])),
  ],
  [
    'halted',
    '1 while no node of the cluster is ready, so that no node gets a NoExecute taint, else 0.',
    [],
    ({ isHalted }) => [[Number(isHalted)]],
  ],
  ['zone_size', 'Nodes of the zone.', ['zone'], ({ zones }) => zones.map(({ zone, ready, notReady }): Sample => [ready + notReady, zone])],
  [
    'zone_health',
    'Share of the nodes of the zone that are ready, in percent.',
    ['zone'],
    ({ zones }) => zones.map(({ zone, ready, notReady }): Sample => [(100 * ready) / (ready + notReady), zone]),
  ],
  [
    'unhealthy_nodes_in_zone',
    'Nodes of the zone that are not ready.',
    ['zone'],
    ({ zones }) => zones.map(({ zone, notReady }): Sample => [notReady, zone]),
  ],
  ['nodes', 'Nodes that are known.', [], ({ nodes }) => [[nodes]]],
  ['pods', 'Pods that are known.', [], ({ pods }) => [[pods]]],
  ['queued_actions', 'Changes of pods and nodes that wait or are being made.', [], ({ queued }) => [[queued]]],
];

/** Counters that are read: names and help. */
const READ_COUNTERS: readonly (readonly [name: string, help: string, read: (of: ControllerValues) => number])[] = [
  [
    'lists_total',
    'Full lists of pods, nodes and leases: one of each when the process becomes the leader, more after a failed watch.',
    ({ lists }) => lists,
  ],
  ['failed_actions_total', 'Failed changes of pods and nodes, which the controller retries.', ({ failedActions }) => failedActions],
];

const PREFIX = 'evictd_controller_';

/** Metrics of `evictd controller`, with the stems of kube-controller-manager's. */
export class ControllerMetrics {
  readonly #registry = new Registry();
  readonly #evictions = this.#counter('pod_deletions_total', 'Pods deleted because of a NoExecute taint.', []);
  readonly #tainted = this.#counter('evictions_total', 'NoExecute taints set on nodes that are not ready.', ['zone']);
  readonly #forced = this.#counter('force_delete_pods_total', 'Pods deleted by force.', ['reason']);
  readonly #forcedFailed = this.#counter('force_delete_pod_errors_total', 'Pods that could not be deleted by force.', ['reason']);
  readonly #requests = this.#counter(
    'requests_total',
    "Requests to the API server by method and the code of the answer; 'none': no answer.",
    ['method', 'code'],
  );

  constructor(values: () => ControllerValues) {
    const registers = [this.#registry];
    for (const [name, help, labels, read] of GAUGES) {
      new Gauge({
        ...{ name: PREFIX + name, help, labelNames: labels, registers },
        collect(): void {
          this.reset();
          for (const [value, ...of] of read(values()))
            this.set(Object.fromEntries(labels.map((label, at) => [label, of[at] ?? ''])), value);
        },
      });
    }
    for (const [name, help, read] of READ_COUNTERS) {
      new Counter({
        ...{ name: PREFIX + name, help, registers },
        collect(): void {
          this.reset();
          this.inc(read(values()));
        },
      });
    }
  }

  readonly count = (what: 'evicted' | 'force deleted' | 'force delete failed' | 'tainted', label = ''): void => {
    if (what === 'evicted') this.#evictions.inc();
    else if (what === 'tainted') this.#tainted.inc({ zone: label });
    else if (what === 'force deleted') this.#forced.inc({ reason: label });
    else this.#forcedFailed.inc({ reason: label });
  };

  readonly requested = (method: string, code: string): void => {
    this.#requests.inc({ method, code });
  };

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: PREFIX + name, help, labelNames: [...labelNames], registers: [this.#registry] });
  }
}
