import { readdirSync, readFileSync } from 'node:fs';
import { attempt } from '../errors.js';
import type { FixedValue, PolicyFacts } from '../config/lint/machine.js';
import { STALLED_VALUE } from '../core/ladder/restraint-lift.js';
import { decidingValue } from '../core/ladder/victim-order.js';
import { policyNeeds } from '../core/policy/condition-needs.js';
import type { ConfiguredPolicy } from '../core/policy/configured-policy.js';
import { RAW_VALUES, type KernelSource, type RawValue } from '../core/policy/raw-value.js';
import { numbersIn } from '../core/oom/memory-node.js';
import { AMOUNT_SIGNALS, type Signal } from '../core/signal/signal.js';
import { compileScope } from '../core/policy/scope-pattern.js';
import { cgroupDirectory } from '../core/workload/cgroup.js';
import type { Hierarchies } from '../host/linux/cgroup/hierarchies.js';

/** The files of the kernel and of programs, as far as policies need them. */
export interface PolicyFiles {
  /** undefined: it cannot be read. */
  readonly text: (path: string) => string | undefined;
  /** Names of the directories in it. */
  readonly directories: (path: string) => readonly string[];
}

export const KERNEL_FILES: PolicyFiles = {
  text: (path) => attempt(() => readFileSync(path, 'latin1')),
  directories: (path) =>
    attempt(() => readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))) ?? [],
};

export interface PolicyMachine {
  readonly hierarchies: Pick<Hierarchies, 'memory' | 'unified' | 'pids' | 'blkio'>;
  /** The node's cgroup; undefined: the machine. */
  readonly node: string | undefined;
  /** Signals of the node that have no value, with the reason. */
  readonly missing: ReadonlyMap<Signal, string>;
  readonly files: PolicyFiles;
}

/** A walk ends here. */
const MAX_CGROUPS = 20_000;
/** Cgroups whose files are looked at. */
const MAX_SAMPLES = 20;

export function readPolicyFacts(policies: readonly ConfiguredPolicy[], machine: PolicyMachine): PolicyFacts {
  const { files, hierarchies, node, missing: signals } = machine;
  const needs = policyNeeds(policies);
  const steps = policies.flatMap(({ then }) => then);
  const compared = steps.flatMap((step) => ('by' in step ? step.by : [])).flatMap((by) => decidingValue(by) ?? []);
  const watched: readonly RawValue[] = steps.some(({ kind }) => kind === 'throttle') ? [STALLED_VALUE] : [];
  const matching = matchingPaths(policies, needs.named.keys(), machine);
  const total = totalsIn(files.text('/proc/meminfo') ?? '');
  const hasSwap = total.swap !== 0n;
  const samples = [...new Set([...matching.values()].flat())].slice(0, MAX_SAMPLES);
  return {
    fixed: {
      node: each(
        needs.node,
        (value) =>
          (hasSwap ? undefined : ofSwap(value)) ??
          ofSignal(value, signals) ??
          (node === undefined ? onMachine(value, files) : onNode(value, node, machine)),
      ),
      cgroup: each(
        new Set([...needs.cgroup, ...compared, ...watched]),
        (value) => (hasSwap ? undefined : ofSwap(value)) ?? inCgroups(value, samples, machine),
      ),
    },
    fixedIn: new Map(
      [...needs.named].map(([path, values]) => [
        path,
        each(values, (value) => (hasSwap ? undefined : ofSwap(value)) ?? inCgroups(value, matching.get(path) ?? [], machine)),
      ]),
    ),
    total,
    matches: new Map([...matching].map(([pattern, paths]) => [pattern, paths.length])),
    cgroupVersion: hierarchies.memory?.version,
  };
}

/** Of /proc/meminfo. */
function totalsIn(meminfo: string): NonNullable<PolicyFacts['total']> {
  const bytesOf = (key: string): bigint | undefined => {
    const [, kib] = new RegExp(`^${key}:\\s*(\\d+) kB$`, 'm').exec(meminfo) ?? [];
    return kib === undefined ? undefined : BigInt(kib) * 1024n;
  };
  const [memory, swap] = [bytesOf('MemTotal'), bytesOf('SwapTotal')];
  return { ...(memory !== undefined && { memory }), ...(swap !== undefined && { swap }) };
}

function each<K, V>(keys: ReadonlySet<K>, look: (key: K) => V | undefined): ReadonlyMap<K, V> {
  const found = [...keys].map((key): readonly [K, V | undefined] => [key, look(key)]);
  return new Map(found.filter((entry): entry is readonly [K, V] => entry[1] !== undefined));
}

const missing = (why: string): FixedValue => ({ is: 'missing', why });
const zero = (why: string): FixedValue => ({ is: 'zero', why });

const NO_PRESSURE = missing('this kernel measures no pressure (boot with psi=1)');

/** The memory nodes (NUMA) of the machine. */
const MEMORY_NODES = '/sys/devices/system/node/has_memory';

/** The fixed values of a machine without swap. */
function ofSwap(value: RawValue): FixedValue | undefined {
  const why = 'there is no swap';
  if (value === 'swap.available' || value === 'swap.available.capacity') return missing(why);
  return value === 'memory.swap' || value === 'pswpout' ? zero(why) : undefined;
}

function ofSignal(value: RawValue, signals: PolicyMachine['missing']): FixedValue | undefined {
  const signal = AMOUNT_SIGNALS.find((one) => value === one || value === `${one}.capacity`);
  const why = signal && signals.get(signal);
  return why === undefined ? undefined : missing(why);
}

function onMachine(value: RawValue, files: PolicyFiles): FixedValue | undefined {
  const source = RAW_VALUES[value].node;
  if (source === undefined) return undefined;
  const text = files.text(source.file);
  if (text === undefined) {
    return value.includes('.pressure.') ? NO_PRESSURE : missing(`${source.file} cannot be read`);
  }
  if (value.startsWith('cpu.pressure.full')) return zero('that of a machine is always 0');
  return lacks(source, text) ? missing(`this kernel's ${source.file} has no ${(source.keys ?? []).join(', ')}`) : undefined;
}

/** A cgroup as the node. Where it has no pressure of its own, it is the machine's. */
function onNode(value: RawValue, node: string, machine: PolicyMachine): FixedValue | undefined {
  const found = inCgroups(value, [node], machine);
  if (found === undefined || !value.includes('.pressure.')) return found;
  return onMachine(value, machine.files);
}

/** The value of the cgroups that match now; if none matches, the value that the version of cgroups implies. */
function inCgroups(value: RawValue, samples: readonly string[], { hierarchies, files }: PolicyMachine): FixedValue | undefined {
  const { memory, unified } = hierarchies;
  if (memory === undefined) return missing('no memory controller is mounted');
  if (value.startsWith('memory.boundNodes.') && numbersIn(files.text(MEMORY_NODES) ?? '').length < 2)
    return missing('this machine has one memory node');
  const { v1, v2 } = RAW_VALUES[value];
  // systemd's units have the same path in the unified hierarchy, which measures pressure without a controller.
  const isApart = memory.version === 1 && v1 === undefined && unified !== undefined && v2?.file.endsWith('.pressure') === true;
  const source = memory.version === 1 && !isApart ? v1 : v2;
  if (source === undefined) return v2 === undefined || memory.version === 2 ? undefined : missing('cgroup v1 does not have it');
  const controller = memory.version === 1 ? source.controller : undefined;
  const hierarchy = isApart ? unified : hierarchies[controller ?? 'memory'];
  if (hierarchy === undefined) return missing(`the ${String(controller)} controller is not mounted`);
  const hasIt = samples.some((path) => {
    const text = files.text(`${cgroupDirectory(hierarchy, path)}/${source.file}`);
    return text !== undefined && !lacks(source, text);
  });
  if (hasIt) return undefined;
  // A container may not see /proc/pressure, but its cgroups have the file.
  if (samples.length === 0)
    return value.includes('.pressure.') && files.text(RAW_VALUES[value].node?.file ?? '') === undefined ? NO_PRESSURE : undefined;
  const where = hierarchy === memory ? '' : ` below ${hierarchy.mountPoint}`;
  return missing(`${String(samples[0])} has no ${[source.file, ...(source.keys ?? [])].join(' ')}${where}`);
}

/** Whether a file with keys has none of these. Without any line it says nothing. */
function lacks({ file, keys }: KernelSource, text: string): boolean {
  if (keys === undefined || text === '' || file === 'io.stat') return false;
  const lines = text.split('\n');
  return !keys.some((key) =>
    lines.some((line) => line.startsWith(`${key} `) || line.startsWith(`${key}:`) || line.startsWith(`${key}=`) || pressureKey(line, key)),
  );
}

/** 'some avg10' in 'some avg10=0.00 avg60=0.00 avg300=0.00 total=0'. */
function pressureKey(line: string, key: string): boolean {
  const [kind = '', number] = key.split(' ');
  return number !== undefined && line.startsWith(`${kind} `) && line.includes(` ${number}=`);
}

/** The paths of the cgroups that match now, by pattern. */
function matchingPaths(
  policies: readonly ConfiguredPolicy[],
  named: Iterable<string>,
  { hierarchies: { memory }, files }: PolicyMachine,
): ReadonlyMap<string, readonly string[]> {
  const globs = [...new Set(policies.flatMap(({ scope }) => scope?.cgroup ?? []))].map((cgroup) => ({ cgroup, of: { cgroup } }));
  const paths = [...named].map((cgroup) => ({ cgroup, of: { paths: [cgroup] } }));
  const patterns = [...globs, ...paths].map(({ cgroup, of }) => {
    return { cgroup, pattern: compileScope(of), found: new Array<string>() };
  });
  const left = memory === undefined || patterns.length === 0 ? [] : [''];
  for (let seen = 0, path = left.shift(); memory !== undefined && path !== undefined && seen < MAX_CGROUPS; path = left.shift()) {
    for (const name of files.directories(cgroupDirectory(memory, path === '' ? '/' : path))) {
      seen += 1;
      const below = `${path}/${name}`;
      for (const { pattern, found } of patterns) if (pattern.matches(below)) found.push(below);
      if (patterns.some(({ pattern }) => pattern.reachesBelow(below))) left.push(below);
    }
  }
  return new Map(patterns.map(({ cgroup, found }) => [cgroup, found]));
}
