import { degraded, ok, type Check, command, isPlain } from '../check.js';
import { defineCheck } from '../check-kind.js';
import {
  type CgroupFacts,
  type DaemonFacts,
  type DaemonsFacts,
  type MemoryFacts,
  type ServiceFacts,
  hasSystemd,
  isUnseen,
} from '../../../host/facts.js';
import type { NodeFacts, WorkloadFacts } from '../machine-facts.js';
import { hardMemoryLimit, type MemoryLimit } from '../../../config/lint/limit.js';
import { checkKubelet } from './kubelet.js';
import { checkSystemdOomd } from './systemd-oomd.js';
import { amountOfBytes } from '../../../core/quantity/amount.js';

const ID = 'daemon.NAME';

export interface DaemonContext {
  readonly memory: MemoryFacts;
  readonly cgroup: CgroupFacts;
  readonly node: NodeFacts;
  readonly workloads: WorkloadFacts;
  readonly service: ServiceFacts;
}

/** Other daemons that end processes when memory runs short, and which of them acts first. */
export function checkDaemons({ found }: DaemonsFacts, context: DaemonContext): Check[] {
  const names = found.map(({ name }) => name);
  // Ids are unique: a second kubelet (in a container of kind) is daemon.kubelet#2.
  return found.map((daemon, index) => {
    const before = names.slice(0, index).filter((name) => name === daemon.name).length;
    return checkDaemon(daemon, before === 0 ? '' : `#${String(before + 1)}`, context);
  });
}

function checkDaemon(daemon: DaemonFacts, suffix: string, { memory, cgroup, node, workloads, service }: DaemonContext): Check {
  const { name, pid, unit } = daemon;
  const stop = stopFix(daemon, service);
  const id = ID.replace('NAME', name) + suffix;
  const process = `${name} (process ${String(pid)}${unit === undefined ? '' : ` of ${unit}`})`;
  switch (name) {
    case 'systemd-oomd':
      return checkSystemdOomd(id, process, daemon, workloads, memory);
    case 'kubelet':
      return checkKubelet(id, process, daemon, node, cgroup);
    case 'earlyoom':
    case 'nohang': {
      const limit = limitOf(daemon, memory);
      return isUnseen(limit)
        ? unknown(id, stop, `${process}: unknown when it acts: ${limit.unseen}`)
        : compared(id, process, stop, limit, node);
    }
    case 'oomd':
    case 'lmkd':
      return unknown(id, stop, `${process} kills by its own rules, which evictd cannot read`);
  }
}

function limitOf({ name, arguments: args, settings }: DaemonFacts, memory: MemoryFacts): DaemonLimit | { readonly unseen: string } {
  if (name === 'earlyoom') return isUnseen(args) ? args : earlyoomLimit(args.slice(1), memory);
  if (isUnseen(settings)) return settings;
  return nohangLimit(settings, memory) ?? { unseen: 'its configuration has no soft_threshold_min_mem' };
}

function compared(id: string, process: string, stop: string, limit: DaemonLimit, node: NodeFacts): Check {
  const { isFirst, text } = precedence(limit, hardMemoryLimit(node.thresholds, node.capacities));
  const details = { limitBytes: Number(limit.bytes), isFirst };
  if (!isFirst) return ok(id, `${process}: ${text}`, details);
  const summary = `${process}: ${text}: it kills single processes by oom_score and ignores evictd's rules`;
  return degraded(id, summary, `${stop}, or set its limit below that of evictd`, details);
}

function unknown(id: string, stop: string, summary: string): Check {
  return degraded(id, summary, stop);
}

/** How to stop a daemon for good. The unit of another name is perhaps a login session, or a container with more in it. */
function stopFix({ name, pid, unit }: DaemonFacts, service: ServiceFacts): string {
  const isOwn = unit?.startsWith(name) === true && unit.endsWith('.service');
  return hasSystemd(service) && isOwn && isPlain(unit)
    ? command(`systemctl disable --now ${unit}`)
    : `end process ${String(pid)}, and whatever starts ${name} at boot`;
}

export const daemonsCheck = defineCheck(ID, ['daemons', 'memory', 'cgroup', 'node', 'workloads', 'service'], ({ daemons, ...context }) =>
  checkDaemons(daemons, context),
);

/** The limit at which another daemon acts. */
export interface DaemonLimit {
  readonly bytes: bigint;
  /** 'below 10 % MemAvailable' */
  readonly text: string;
}

export interface Precedence {
  readonly isFirst: boolean;
  readonly text: string;
}

/** The higher limit acts first; at the same limit both do. `ours` undefined: evictd has no hard memory threshold. */
export function precedence({ bytes, text }: DaemonLimit, ours: MemoryLimit | undefined): Precedence {
  const theirs = `it acts ${text} (${amountOfBytes(bytes)})`;
  if (ours === undefined) return { isFirst: true, text: `${theirs}, evictd has no hard threshold of memory` };
  if (bytes >= ours.bytes) return { isFirst: true, text: `${theirs}, before evictd at ${ours.text}` };
  return { isFirst: false, text: `${theirs}, after evictd at ${ours.text}` };
}

const DEFAULT_PERCENT = 10;

/**
 * When earlyoom sends its first SIGTERM (earlyoom(1)): MemAvailable below the lower of -m PERCENT (default 10) and -M
 * KiB and, with swap, free swap below -s PERCENT (default 10) or -S KiB. This takes percentages of MemTotal; earlyoom
 * 1.8 takes them of a smaller total.
 */
export function earlyoomLimit(
  args: readonly string[],
  { totalBytes, swapBytes }: Pick<MemoryFacts, 'totalBytes' | 'swapBytes'>,
): DaemonLimit {
  const percent = option(args, 'm');
  const kibibytes = option(args, 'M');
  const limits = [
    ...(percent === undefined && kibibytes !== undefined ? [] : [ofTotal(totalBytes, percent ?? DEFAULT_PERCENT)]),
    ...(kibibytes === undefined ? [] : [BigInt(Math.floor(kibibytes)) * 1024n]),
  ];
  const bytes = limits.reduce((least, limit) => (limit < least ? limit : least));
  const swap = swapBytes === 0n ? '' : ` and low swap (-s ${String(option(args, 's') ?? DEFAULT_PERCENT)})`;
  const limit = percent === undefined && kibibytes !== undefined ? `-M ${String(kibibytes)}` : `-m ${String(percent ?? DEFAULT_PERCENT)}`;
  return { bytes, text: `on low MemAvailable (${limit})${swap}` };
}

/** '-m 8,4' or '-m8': the first value is for SIGTERM. */
function option(args: readonly string[], letter: string): number | undefined {
  const index = args.findIndex((arg) => arg.startsWith(`-${letter}`));
  if (index === -1) return undefined;
  const text = args[index] === `-${letter}` ? args[index + 1] : args[index]?.slice(2);
  const value = Number.parseFloat(text ?? '');
  return Number.isNaN(value) ? undefined : value;
}

function ofTotal(totalBytes: bigint, percent: number): bigint {
  return (totalBytes * BigInt(Math.round(percent * 100))) / 10_000n;
}

/**
 * When nohang sends its first SIGTERM: soft_threshold_min_mem in '%' of MemTotal or in 'M' (MiB). undefined: not set.
 */
export function nohangLimit(config: string, { totalBytes }: Pick<MemoryFacts, 'totalBytes'>): DaemonLimit | undefined {
  const [, number = '', unit = ''] = /^soft_threshold_min_mem\s*=\s*([\d.]+)\s*([%M])/m.exec(config) ?? [];
  const value = Number.parseFloat(number);
  if (Number.isNaN(value)) return undefined;
  const bytes = unit === '%' ? (totalBytes * BigInt(Math.round(value * 100))) / 10_000n : BigInt(Math.round(value)) * 1_048_576n;
  return { bytes, text: `on low MemAvailable (soft_threshold_min_mem = ${number} ${unit})` };
}

/** Lists the other daemons that end processes; each has a check of its own (daemon.NAME). */
export const otherDaemonsCheck = defineCheck('daemon.others', ['daemons'], ({ daemons: { found, hidden } }, id) => {
  const names = found.map(({ name }) => name);
  const summary = names.length === 0 ? 'no other eviction daemon runs' : `other eviction daemons: ${names.join(', ')}`;
  if (hidden === undefined) return ok(id, summary, { names });
  return degraded(id, `${summary}, but not all processes are visible: ${hidden}`, "run evictd doctor as root in the host's PID namespace", {
    names,
  });
});
