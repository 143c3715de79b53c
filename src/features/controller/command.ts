import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { MakeCommand } from '../../cli/output/command.js';
import { SHARED_GROUPS, withHelp } from '../../cli/output/help.js';
import { listenText } from '../../config/value/value-text.js';
import { PART_MODES, type PartMode } from '../../core/cluster/controller.js';
import { DEFAULT_TIMINGS } from '../../core/cluster/leader-election.js';
import { DEFAULT_GRACE_NS } from '../../core/cluster/node-lifecycle.js';
import { DEFAULT_RATES, type EvictionRates } from '../../core/cluster/zone-disruption.js';
import { formatDuration, parseDuration } from '../../core/quantity/duration.js';
import { attempt, UsageError } from '../../errors.js';
import { createLog, type Level } from '../../log/log.js';
import { native } from '../../native/index.js';

interface ControllerOptions extends EvictionRates {
  readonly kubeconfig?: string;
  readonly taintEviction: PartMode;
  readonly nodeLifecycle: PartMode;
  readonly podGc: PartMode;
  readonly listen: ReturnType<typeof listenAddress>;
  readonly logFormat: 'auto' | 'text' | 'systemd' | 'json';
  readonly logLevel: Level;
  readonly leaderElectResourceNamespace?: string;
  readonly leaderElectLeaseDuration: bigint;
  readonly leaderElectRenewDeadline: bigint;
  readonly leaderElectRetryPeriod: bigint;
  readonly nodeMonitorGracePeriod: bigint;
}

const FLUSHED_WITHIN_MS = 2_000;

export const controller: MakeCommand = ({ io, logsToTerminal, onStop }) =>
  withHelp(controllerCommand(), {
    about: [
      'Runs beside the API server of a cluster, and not on each node. auto: where kube-controller-manager does not run this part. Several processes may run: one leads. See docs/controller.md.',
    ],
    examples: ['evictd controller --kubeconfig admin.conf --node-lifecycle off'],
    exit: { 0: 'stopped by a signal', 1: 'failure at run time', 64: 'usage error' },
  }).action(async (options: ControllerOptions) => {
    refuseWrongTimings(options);
    const stopped = new Promise<void>((resolve) => {
      onStop(resolve);
    });
    const log = createLog({ format: options.logFormat, level: options.logLevel, isTTY: logsToTerminal, env: io.env });
    const { ClusterController } = await import('./controller.js');
    const running = new ClusterController({
      ...{ kubeconfig: options.kubeconfig, env: io.env, log, nowNs: (): bigint => native.bootTimeNs() },
      listen: options.listen === 'off' ? undefined : options.listen,
      namespace: options.leaderElectResourceNamespace ?? io.env.POD_NAMESPACE ?? 'kube-system',
      identity: `${hostname()}_${randomUUID()}`,
      modes: {
        'taint-eviction-controller': options.taintEviction,
        'node-lifecycle-controller': options.nodeLifecycle,
        'pod-garbage-collector-controller': options.podGc,
      },
      timings: {
        leaseNs: options.leaderElectLeaseDuration,
        renewDeadlineNs: options.leaderElectRenewDeadline,
        retryNs: options.leaderElectRetryPeriod,
      },
      lifecycle: { ...options, graceNs: options.nodeMonitorGracePeriod },
    });
    await stopped;
    await running.close();
    await log.flush(FLUSHED_WITHIN_MS);
  });

/** Options with the names of kube-controller-manager's, where it has them. */
function controllerCommand(): Command {
  const mode = (flag: string, what: string): Option =>
    new Option(`${flag} <mode>`, what).choices(PART_MODES).default('auto' satisfies PartMode);
  const duration = (flag: string, what: string, ns: bigint): Option =>
    new Option(`${flag} <duration>`, what).argParser(durationNs).default(ns, formatDuration(ns));
  const rate = (flag: string, what: string, value: number): Option =>
    new Option(`${flag} <number>`, what).argParser(nonNegative).default(value);
  return new Command('controller')
    .description('evict pods for NoExecute taints, and taint nodes (once for a cluster)')
    .option('--kubeconfig <file>', 'default: the service account of the pod')
    .addOption(mode('--taint-eviction', 'delete pods that do not tolerate a NoExecute taint'))
    .addOption(mode('--node-lifecycle', 'mark silent nodes; taint nodes by conditions'))
    .addOption(mode('--pod-gc', 'force-delete terminating pods that no kubelet can end'))
    .addOption(
      new Option('--listen <address:port>', "metrics and probes, or 'off'")
        .argParser(listenAddress)
        .default({ host: '127.0.0.1', port: 9797 }, '127.0.0.1:9797'),
    )
    .optionsGroup(SHARED_GROUPS.log)
    .addOption(new Option('--log-format <format>', 'form of log lines').choices(['auto', 'text', 'systemd', 'json']).default('auto'))
    .addOption(new Option('--log-level <level>', 'lowest level that is logged').choices(['debug', 'info', 'warn', 'error']).default('info'))
    .optionsGroup(SHARED_GROUPS.election)
    .option('--leader-elect-resource-namespace <name>', 'namespace of the Lease (default: $POD_NAMESPACE, else kube-system)')
    .addOption(
      duration('--leader-elect-lease-duration', 'another process may lead after this time without a renewal', DEFAULT_TIMINGS.leaseNs),
    )
    .addOption(
      duration('--leader-elect-renew-deadline', 'the leader stops after this time without a renewal', DEFAULT_TIMINGS.renewDeadlineNs),
    )
    .addOption(duration('--leader-elect-retry-period', 'time between two attempts to take or renew the Lease', DEFAULT_TIMINGS.retryNs))
    .optionsGroup(SHARED_GROUPS.nodes)
    .addOption(duration('--node-monitor-grace-period', 'a node that is silent for longer is unreachable', DEFAULT_GRACE_NS))
    .addOption(rate('--node-eviction-rate', 'nodes per second and zone that get a NoExecute taint', DEFAULT_RATES.nodeEvictionRate))
    .addOption(
      rate('--secondary-node-eviction-rate', 'the same in a large zone that is disrupted', DEFAULT_RATES.secondaryNodeEvictionRate),
    )
    .addOption(
      rate(
        '--unhealthy-zone-threshold',
        'share of nodes that are not ready at which a zone is disrupted',
        DEFAULT_RATES.unhealthyZoneThreshold,
      ),
    )
    .addOption(rate('--large-cluster-size-threshold', 'a zone with more nodes is large', DEFAULT_RATES.largeClusterSizeThreshold))
    .optionsGroup('Options:');
}

/** Refuses timings with which another process could lead before the leader has stopped. */
function refuseWrongTimings(options: ControllerOptions): void {
  const [lease, deadline, retry] = [options.leaderElectLeaseDuration, options.leaderElectRenewDeadline, options.leaderElectRetryPeriod];
  if (lease % 1_000_000_000n === 0n && deadline < lease && retry * 12n < deadline * 10n) return;
  const seen = [lease, deadline, retry].map(formatDuration).join(', ');
  throw new UsageError('EVICTD_CONTROLLER_TIMINGS', `lease duration, renew deadline and retry period do not fit: ${seen}`, {
    hint: 'the lease duration is in whole seconds and longer than the deadline, which is longer than 1.2 retry periods: 15s, 10s, 2s',
  });
}

function durationNs(text: string): bigint {
  const ns = attempt(() => parseDuration(text)) ?? 0n;
  if (ns > 0n) return ns;
  throw new InvalidArgumentError('Use a duration such as 50s or 1m30s.');
}

function nonNegative(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) throw new InvalidArgumentError('Use a number from 0 on.');
  return value;
}

/** 'off' stays a text: commander takes undefined for an option without a value. */
function listenAddress(text: string): { readonly host: string; readonly port: number } | 'off' {
  try {
    const address = listenText(text);
    if (address === undefined) return 'off';
    if ('port' in address) return address;
  } catch {
    // as a socket file
  }
  throw new InvalidArgumentError('Use ADDRESS:PORT, or off.');
}
