import type { LoadedConfig } from '../config/config.js';
import { errnoOf } from '../config/parse/config-file.js';
import { hookCommands } from '../core/hook/hook.js';
import { namedOf, patternsOf, type Rule } from '../core/workload/rule.js';
import type { Observations } from '../core/signal/observation.js';
import { isOfBudget, type PolicyBudget } from '../core/disruption/disruption-budget.js';
import { protectionText } from '../core/rank/rank.js';
import { isPressure, SIGNAL_FACTS, type Signal } from '../core/signal/signal.js';
import type { Threshold } from '../core/threshold/threshold.js';
import type { Protection } from '../core/workload/workload.js';
import { selectHost } from '../host/select.js';
import { policySignals } from '../core/policy/condition-needs.js';
import type { ConfiguredPolicy } from '../core/policy/configured-policy.js';
import { KERNEL_FILES, readPolicyFacts } from './policy-facts.js';
import type { UnevictableReason, MachineFacts, PolicyFacts, PresentSource, PresentWorkload } from '../config/lint/machine.js';
import type { Node, NotifierState, WorkloadSource } from '../monitor/ports/ports.js';
import { native } from '../native/index.js';
import { groupId } from '../storage/group-file.js';
import { readSecretFile, readTokenFile } from '../storage/token-file.js';
import { sourceText, type WorkloadSourceSpec } from '../workloads/kinds/source-spec.js';
import { messageOf, type UnavailableError } from '../errors.js';
import { withAncestors } from '../core/workload/cgroup.js';
import { compileRules } from '../workloads/workload-rules.js';
import type { HostReading } from './open-reading.js';
import { budgetsOf } from './configuration-in-force.js';
import { openRuntimeReading } from './runtime-reading.js';

/** Waits until the filesystems of a node have been read or timed out. */
export type FilesystemsRead = (node: Node) => Promise<void>;

/**
 * The facts of this machine that a configuration is linted against. Reads them as `run` does, and changes nothing.
 *
 * Throws if the node does not exist, or evictd does not run on this system.
 */
export async function readMachineFacts(loaded: LoadedConfig, filesystemsRead: FilesystemsRead): Promise<MachineFacts> {
  const reading = await openRuntimeReading(loaded);
  try {
    await filesystemsRead(reading.node);
    reading.node.arm(loaded.config.thresholds, () => undefined, policySignals(loaded.config.policies));
    return await machineFactsOf(reading, loaded);
  } finally {
    reading.close();
  }
}

/** The facts for an armed node whose filesystems have been read or timed out. */
export async function machineFactsOf(
  { node, workloads, openAlone }: Pick<HostReading, 'node' | 'workloads' | 'openAlone'>,
  { config }: LoadedConfig,
): Promise<MachineFacts> {
  const { thresholds, rules, allocatable, policies } = config;
  const observations = node.read();
  const notifiers = node.notifiers();
  // Without `allocatable` the signal does not exist, and the configuration has a notice for that.
  const isExpected = ([signal]: readonly [Signal, string]): boolean =>
    signal !== 'allocatableMemory.available' || allocatable !== undefined;
  return {
    ...startFacts(node, observations),
    unreadable: new Map([...observations.missing].filter(isExpected)),
    absent: new Map([...(observations.absent ?? [])].filter(isExpected)),
    polled: polledSignals(thresholds, observations, notifiers),
    notifiers,
    layout: node.layout(),
    workloads: {
      present: presentWorkloads(workloads, rules, budgetsOf(config)),
      sources: config.workloads.map((entry) => presentSource(entry, openAlone)),
    },
    ...(policies.length > 0 && { policies: policyFactsOf(policies, node.identity.cgroup, observations) }),
    programs: await programProblems(config),
    ...(await tokenFileProblem(config.metricsTokenFile)),
    ...(await secretFileProblem(config.notifications.webhook?.secretFile)),
    ...controlGroupProblem(config.controlSocket.group),
  };
}

const CHECKED_WITHIN_MS = 5_000;

/** Problems of the programs of hooks and of steps of policies. */
async function programProblems(config: LoadedConfig['config']): Promise<ReadonlyMap<string, string>> {
  const steps = config.policies.flatMap(({ then }) => then);
  const commands = [
    ...hookCommands(config).map(({ argv }) => argv),
    ...steps.map((step) => (step.kind === 'run' ? step.command : undefined)),
  ];
  const programs = new Set(commands.flatMap((command) => command?.slice(0, 1) ?? []));
  const runner = programs.size === 0 ? undefined : selectHost().openProgramRunner?.(native);
  const found = [...programs].map(async (program) => [program, await runner?.problemOf(program, CHECKED_WITHIN_MS)] as const);
  return new Map((await Promise.all(found)).flatMap(([program, problem]) => (problem === undefined ? [] : [[program, problem]])));
}

/** The problem of the token file. Without root a file that only root may read counts as correct. */
async function tokenFileProblem(path: string | undefined): Promise<Pick<MachineFacts, 'tokenFile'>> {
  if (path === undefined) return {};
  try {
    const { isPublic } = await readTokenFile(path);
    if (!isPublic || selectHost().os === 'windows') return {};
    return { tokenFile: { message: `all users of this machine may read or write the token in ${path}`, hint: `chmod o= ${path}` } };
  } catch (error) {
    if (errnoOf((error as Error).cause) === 'EACCES' && process.geteuid?.() !== 0) return {};
    const { message, hint = '' } = error as UnavailableError;
    return { tokenFile: { message: `the status page and the API answer 503: the file of the token cannot be used: ${message}`, hint } };
  }
}

/** The problem of the secret file, read as the webhook reads it: without a newline at its end. */
async function secretFileProblem(path: string | undefined): Promise<Pick<MachineFacts, 'secretFile'>> {
  if (path === undefined) return {};
  const refused = (why: string, hint: string) => ({
    secretFile: { message: `evictd cannot sign notifications, and sends none: ${why}`, hint },
  });
  const create = `umask 077; head -c 24 /dev/urandom | base64 >${path}`;
  try {
    const { bytes, isPublic } = await readSecretFile(path);
    if (/^(\r?\n)?$/.test(bytes.toString('latin1'))) return refused(`${path} is empty`, create);
    if (!isPublic || selectHost().os === 'windows') return {};
    return { secretFile: { message: `all users of this machine may read or write the key in ${path}`, hint: `chmod o= ${path}` } };
  } catch (error) {
    if (errnoOf(error) === 'EACCES' && process.geteuid?.() !== 0) return {};
    return refused(messageOf(error), create);
  }
}

function controlGroupProblem(group: string | undefined): Pick<MachineFacts, 'controlGroup'> {
  if (group === undefined) return {};
  try {
    groupId(group);
    return {};
  } catch (error) {
    const message = `only root can connect to the control socket: ${(error as Error).message}`;
    return { controlGroup: { message, hint: `groupadd --system ${group}; for a group from elsewhere write its id` } };
  }
}

/** The facts at the start, when nothing is armed and no filesystem has been read. */
export function readStartFacts(node: Node): MachineFacts {
  return startFacts(node, node.read());
}

function policyFactsOf(
  policies: readonly ConfiguredPolicy[],
  node: string | undefined,
  { missing, absent = new Map() }: Observations,
): PolicyFacts {
  const signals = new Map([...missing, ...absent]);
  return readPolicyFacts(policies, { hierarchies: selectHost().readHierarchies(), node, missing: signals, files: KERNEL_FILES });
}

function startFacts({ identity, countsKernelMemory = false }: Node, { observed }: Observations): MachineFacts {
  const reserve = selectHost().readMemoryReserve();
  return {
    estimated: identity.cgroup === undefined && countsKernelMemory,
    capacities: new Map([...observed].map(([signal, { capacity }]) => [signal, capacity])),
    unreadable: new Map(),
    absent: new Map(),
    pressureOf: identity.cgroup === undefined ? 'machine' : identity.cgroupVersion === 1 ? 'machine instead of a v1 cgroup' : 'cgroup',
    reserve: reserve && { ...reserve, kernelBytes: identity.cgroup === undefined ? reserve.kernelBytes : 0n },
    polled: new Map(),
    workloads: undefined,
  };
}

/** PSI and memory.events do not count as notifiers: they wake when tasks stall already, or a limit was hit. */
function polledSignals(
  thresholds: readonly Threshold[],
  { observed }: Observations,
  states: readonly NotifierState[],
): Map<Signal, string> {
  const polled = new Map<Signal, string>();
  for (const { signal } of thresholds) {
    if (SIGNAL_FACTS[signal].resource !== 'memory' || isPressure(signal) || !observed.has(signal)) continue;
    const own = states.filter(
      (state) => state.signal === signal && (state.mechanism === 'memcg_threshold' || state.mechanism === 'sampler'),
    );
    if (own.some(({ live }) => live)) continue;
    const reasons = own.map(({ mechanism, reason }) => `${mechanism}: ${reason ?? 'not live'}`);
    polled.set(signal, reasons.length === 0 ? 'there is no notifier for this signal' : [...new Set(reasons)].join('; '));
  }
  return polled;
}

function presentWorkloads(source: WorkloadSource, rules: readonly Rule[], budgets: readonly PolicyBudget[]): PresentWorkload[] {
  const effectOf = compileRules(rules, patternsOf(selectHost().os));
  const { usages, unreadable, veto, managed } = source.candidates();
  const boundNodes = selectHost().openBoundNodes();
  const known = new Set(usages.map(({ workload }) => workload.id));
  const inManaged = (managed?.() ?? []).filter(({ workload }) => !known.has(workload.id));
  const read = [...usages, ...inManaged].map(({ workload }): PresentWorkload => {
    const { name, path } = workload;
    const memoryNodes = boundNodes?.(path);
    return {
      name,
      path,
      matched: effectOf(namedOf(workload)).matched,
      budgets: budgets.filter((budget) => isOfBudget(budget, workload)).map(({ name }) => name),
      unevictable: unevictableReason(workload.protection, veto?.(workload)),
      ...(memoryNodes && { memoryNodes }),
      ...(Array.isArray(memoryNodes) && {
        boundAbove: withAncestors(path)
          .slice(1)
          .filter((above) => Array.isArray(boundNodes?.(above))),
      }),
    };
  });
  const unread = unreadable.map(({ name, path }): PresentWorkload => {
    const memoryNodes = boundNodes?.(path);
    const unevictable = { kind: 'other', text: 'cannot be read' } as const;
    return { name, path, matched: effectOf({ name, path }).matched, unevictable, ...(memoryNodes && { memoryNodes }) };
  });
  return [...read, ...unread];
}

/** What an entry of `workloads` yields alone. */
function presentSource(entry: WorkloadSourceSpec, open: HostReading['openAlone']): PresentSource {
  const source = open(entry);
  try {
    const { usages, unreadable, managed } = source.candidates();
    const ids = new Set([...usages, ...(managed?.() ?? [])].map(({ workload }) => workload.id));
    return { text: sourceText(entry), workloads: ids.size, unreadable: unreadable.length, problems: source.problems() };
  } finally {
    source.close();
  }
}

/** An empty workload counts as such, whatever else prevents its eviction. */
function unevictableReason(protection: Protection | undefined, veto: Protection | undefined): UnevictableReason | undefined {
  const decisive = veto?.kind === 'vacant' || veto?.kind === 'removed' ? veto : (protection ?? veto);
  if (decisive === undefined) return undefined;
  const kind = decisive.kind === 'critical' ? 'critical' : decisive.kind === 'vacant' || decisive.kind === 'removed' ? 'vacant' : 'other';
  return { kind, text: protectionText(decisive) };
}
