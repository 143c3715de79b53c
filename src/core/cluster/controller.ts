/** The parts of `evictd controller`, with the names that they have in kube-controller-manager. */
export const CONTROLLERS = ['taint-eviction-controller', 'node-lifecycle-controller', 'pod-garbage-collector-controller'] as const;
export type Controller = (typeof CONTROLLERS)[number];

/** The Lease of its leader, and the annotation that has the parts which the leader runs. */
export const LEASE_NAME = 'evictd-controller';
export const PARTS_ANNOTATION = 'evictd.dev/controllers';

/** `auto`: where kube-controller-manager does not run it. */
export const PART_MODES = ['auto', 'on', 'off'] as const;
export type PartMode = (typeof PART_MODES)[number];

/** Older names, which `--controllers` takes too (controller-manager: names/controller_names.go). */
const ALIASES: Readonly<Partial<Record<Controller, string>>> = {
  'node-lifecycle-controller': 'nodelifecycle',
  'pod-garbage-collector-controller': 'podgc',
};

/** Names of this list are on, names with a minus are off, * stands for all others (controller-manager: IsControllerEnabled). */
export function isEnabled(controller: Controller, controllers: string): boolean {
  const listed = controllers.split(',').map((name) => name.trim());
  const names = [controller, ALIASES[controller] ?? controller];
  if (names.some((name) => listed.includes(name))) return true;
  if (names.some((name) => listed.includes(`-${name}`))) return false;
  return listed.includes('*');
}

/** A pod of kube-controller-manager. */
export interface ManagerPod {
  readonly isRunning: boolean;
  /** Command and arguments. */
  readonly command: readonly string[];
}

export interface SeenManager {
  /** `held`: it leads by its Lease. `free`: the Lease is not renewed. `absent`: there is no Lease. `unknown`: not known yet. */
  readonly lease: 'held' | 'free' | 'absent' | 'unknown';
  readonly pods: readonly ManagerPod[];
  /** It has changed the taints of a node a short time ago. */
  readonly hasTainted: boolean;
}

/** A fact about kube-controller-manager's part, and why. `unknown`: not known yet, or it cannot be seen. */
export interface ManagerPart {
  readonly runs: boolean | 'unknown';
  readonly why: string;
}

/** Whether kube-controller-manager runs a part. A part is taken for on unless it can be seen that it is not. */
export function managerPart(controller: Controller, { lease, pods, hasTainted }: SeenManager): ManagerPart {
  const running = pods.filter(({ isRunning }) => isRunning);
  const alone = running.filter(({ command }) => valueOf(command, '--leader-elect') === 'false');
  if (controller === 'node-lifecycle-controller' && hasTainted) {
    return { runs: true, why: 'managedFields of nodes show that kube-controller-manager sets their taints' };
  }
  if (lease === 'free' && alone.length === 0) return { runs: false, why: 'no kube-controller-manager holds its Lease' };
  if (lease === 'absent' && alone.length === 0) return { runs: 'unknown', why: UNSEEN };
  if (lease === 'unknown' && alone.length === 0)
    return { runs: 'unknown', why: 'it is not known yet whether a kube-controller-manager runs' };
  const acting = lease === 'held' ? running : alone;
  if (acting.length === 0) {
    return { runs: true, why: 'kube-controller-manager holds its Lease, and no pod shows its --controllers: evictd assumes that it runs' };
  }
  const on = acting.filter(({ command }) => isEnabled(controller, valueOf(command, '--controllers') ?? '*'));
  if (on.length === 0) return { runs: false, why: `--controllers of kube-controller-manager turns ${controller} off` };
  return { runs: true, why: `kube-controller-manager runs ${controller}` };
}

/** k3s with one server starts it without leader election, and without a pod (pkg/daemons/control/server.go). */
const UNSEEN = 'kube-controller-manager has no Lease: one without leader election cannot be seen';

/** The value of --FLAG=VALUE or --FLAG VALUE; the last one counts, except that --controllers adds up. undefined: not given. */
function valueOf(command: readonly string[], flag: string): string | undefined {
  const values = command.flatMap((word, at) => {
    if (word.startsWith(`${flag}=`)) return [word.slice(flag.length + 1)];
    return word === flag ? [command[at + 1] ?? ''] : [];
  });
  return flag === '--controllers' && values.length > 0 ? values.join(',') : values.at(-1);
}

export function isActive(mode: PartMode, { runs }: ManagerPart): boolean {
  return mode === 'on' || (mode === 'auto' && runs === false);
}

/** What `evictd controller` and kube-controller-manager do in a cluster, seen from outside. */
export type ControllersFacts = ControllersSeen | { readonly kind: 'forbidden'; readonly what: string };

export interface ControllersSeen {
  readonly kind: 'seen';
  /** Parts that the leader of `evictd controller` runs. */
  readonly active: readonly Controller[];
  /** The controllers that kube-controller-manager runs, too, and how evictd knows. */
  readonly twice: readonly { readonly controller: Controller; readonly why: string }[];
  /** Why it cannot be seen whether kube-controller-manager runs active parts. Left out: it can. */
  readonly unseen?: string;
}
