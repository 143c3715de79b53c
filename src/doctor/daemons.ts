import { degraded, ok, type Check } from './check.js';
import { earlyoomLimit } from './earlyoom.js';
import type { DaemonFacts, DaemonName, DaemonsFacts } from './facts/daemon.js';
import type { MemoryFacts } from './facts/kernel.js';
import type { NodeFacts } from './facts/node.js';
import { isUnseen } from './facts/unseen.js';
import type { WorkloadFacts } from './facts/workloads.js';
import { checkKubelet } from './kubelet.js';
import { hardMemoryLimit } from './memory-limit.js';
import { nohangLimit } from './nohang.js';
import { precedence, type Rival } from './rival.js';
import { checkSystemdOomd } from './systemd-oomd.js';

const ID = 'daemon.NAME';
const ID_OTHERS = 'daemon.others';

export interface Beside {
  readonly memory: MemoryFacts;
  readonly node: NodeFacts;
  readonly workloads: WorkloadFacts;
}

/** Who else ends processes when memory runs short, and who of them all is first. */
export function checkDaemons({ found, hidden }: DaemonsFacts, beside: Beside): Check[] {
  const names = found.map(({ name }) => name);
  const said = names.length === 0 ? 'no other eviction daemon runs' : `beside evictd: ${names.join(', ')}`;
  const details = { names };
  const others =
    hidden === undefined
      ? ok(ID_OTHERS, said, details)
      : degraded(
          ID_OTHERS,
          `${said}, as far as can be seen: ${hidden}`,
          "run evictd doctor as root, among the machine's processes",
          details,
        );
  // Several of one name (a kubelet in a container of kind): an id is there once.
  const numbered = found.map((daemon, index) => ({ daemon, before: names.slice(0, index).filter((name) => name === daemon.name).length }));
  return [others, ...numbered.map(({ daemon, before }) => checkDaemon(daemon, before === 0 ? '' : `#${String(before + 1)}`, beside))];
}

function checkDaemon(daemon: DaemonFacts, suffix: string, { memory, node, workloads }: Beside): Check {
  const { name, pid, unit } = daemon;
  const id = ID.replace('NAME', name) + suffix;
  const who = `${name} (process ${String(pid)}${unit === undefined ? '' : ` of ${unit}`})`;
  switch (name) {
    case 'systemd-oomd':
      return checkSystemdOomd(id, who, daemon, workloads, memory);
    case 'kubelet':
      return checkKubelet(id, who, daemon, node);
    case 'earlyoom':
    case 'nohang': {
      const limit = limitOf(daemon, memory);
      return isUnseen(limit)
        ? unknown(id, name, `${who}: when it acts cannot be told: ${limit.unseen}`)
        : compared(id, who, name, limit, node);
    }
    case 'oomd':
    case 'lmkd':
      return unknown(id, name, `${who} kills by rules of its own, which evictd does not read`);
  }
}

function limitOf({ name, arguments: args, settings }: DaemonFacts, memory: MemoryFacts): Rival | { readonly unseen: string } {
  if (name === 'earlyoom') return isUnseen(args) ? args : earlyoomLimit(args.slice(1), memory);
  if (isUnseen(settings)) return settings;
  return nohangLimit(settings, memory) ?? { unseen: 'its configuration has no soft_threshold_min_mem' };
}

function compared(id: string, who: string, name: DaemonName, limit: Rival, node: NodeFacts): Check {
  const { isFirst, text } = precedence(limit, hardMemoryLimit(node));
  const details = { limitBytes: Number(limit.bytes), isFirst };
  if (!isFirst) return ok(id, `${who}: ${text}`, details);
  const said = `${who}: ${text}: it kills single processes by oom_score, whatever evictd's rules say`;
  return degraded(id, said, `${stop(name)}, or a lower limit for it than evictd has`, details);
}

function unknown(id: string, name: DaemonName, said: string): Check {
  return degraded(id, said, stop(name));
}

function stop(name: DaemonName): string {
  return `systemctl disable --now ${name}`;
}
