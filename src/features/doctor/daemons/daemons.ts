import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { earlyoomLimit } from './earlyoom.js';
import type { DaemonFacts, DaemonName, DaemonsFacts } from '../../../host/facts/daemon-facts.js';
import type { MemoryFacts } from '../../../host/facts/kernel-facts.js';
import type { NodeFacts } from '../facts/node-facts.js';
import { isUnseen } from '../../../host/facts/unread-fact.js';
import type { WorkloadFacts } from '../facts/workload-facts.js';
import { checkKubelet } from './kubelet.js';
import { hardMemoryLimit } from '../kernel/memory-limit.js';
import { nohangLimit } from './nohang.js';
import { precedence, type DaemonLimit } from './precedence.js';
import { checkSystemdOomd } from './systemd-oomd.js';

const ID = 'daemon.NAME';

export interface DaemonContext {
  readonly memory: MemoryFacts;
  readonly node: NodeFacts;
  readonly workloads: WorkloadFacts;
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

function checkDaemon(daemon: DaemonFacts, suffix: string, { memory, node, workloads }: DaemonContext): Check {
  const { name, pid, unit } = daemon;
  const id = ID.replace('NAME', name) + suffix;
  const process = `${name} (process ${String(pid)}${unit === undefined ? '' : ` of ${unit}`})`;
  switch (name) {
    case 'systemd-oomd':
      return checkSystemdOomd(id, process, daemon, workloads, memory);
    case 'kubelet':
      return checkKubelet(id, process, daemon, node);
    case 'earlyoom':
    case 'nohang': {
      const limit = limitOf(daemon, memory);
      return isUnseen(limit)
        ? unknown(id, name, `${process}: unknown when it acts: ${limit.unseen}`)
        : compared(id, process, name, limit, node);
    }
    case 'oomd':
    case 'lmkd':
      return unknown(id, name, `${process} kills by its own rules, which evictd cannot read`);
  }
}

function limitOf({ name, arguments: args, settings }: DaemonFacts, memory: MemoryFacts): DaemonLimit | { readonly unseen: string } {
  if (name === 'earlyoom') return isUnseen(args) ? args : earlyoomLimit(args.slice(1), memory);
  if (isUnseen(settings)) return settings;
  return nohangLimit(settings, memory) ?? { unseen: 'its configuration has no soft_threshold_min_mem' };
}

function compared(id: string, process: string, name: DaemonName, limit: DaemonLimit, node: NodeFacts): Check {
  const { isFirst, text } = precedence(limit, hardMemoryLimit(node));
  const details = { limitBytes: Number(limit.bytes), isFirst };
  if (!isFirst) return ok(id, `${process}: ${text}`, details);
  const summary = `${process}: ${text}: it kills single processes by oom_score and ignores evictd's rules`;
  return degraded(id, summary, `${stop(name)}, or set its limit below that of evictd`, details);
}

function unknown(id: string, name: DaemonName, summary: string): Check {
  return degraded(id, summary, stop(name));
}

function stop(name: DaemonName): string {
  return `systemctl disable --now ${name}`;
}

export const daemonsCheck = defineCheck(ID, ['daemons', 'memory', 'node', 'workloads'], ({ daemons, ...context }) =>
  checkDaemons(daemons, context),
);
