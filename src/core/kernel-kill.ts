import { amountOfBytes } from './amount.js';
import { isBelow } from './cgroup.js';

/** A process that the kernel's OOM killer killed, as the kernel log says it. Paths below the mount of the memory controller. */
export interface KernelKill {
  /** 'global': the machine was out of memory. 'memcg': a cgroup was at its limit. */
  readonly constraint: 'global' | 'memcg';
  /** Whose limit; undefined: global, or not known. */
  readonly limitedCgroup: string | undefined;
  /** Where the process lived; undefined: not known. */
  readonly cgroup: string | undefined;
  readonly pid: number;
  readonly name: string;
  readonly uid: number | undefined;
  readonly anonBytes: bigint;
  readonly oomScoreAdj: number;
  readonly sinceBootUs: number;
}

/** Whether it concerns a node: the machine (undefined), or a cgroup with all below it. */
export function concernsNode({ cgroup }: KernelKill, node: string | undefined): boolean {
  if (node === undefined) return true;
  return cgroup !== undefined && (cgroup === node || isBelow(cgroup, node));
}

/**
 * The workload that a cgroup is, or lies in: the child of a source. Of nested sources the innermost has it.
 *
 * @param roots  paths of the sources
 */
export function workloadHolding(
  cgroup: string | undefined,
  roots: readonly string[],
): { readonly name: string; readonly path: string } | undefined {
  if (cgroup === undefined) return undefined;
  const root = roots
    .filter((path) => isBelow(cgroup, path))
    .reduce<string | undefined>((a, b) => (a === undefined || b.length > a.length ? b : a), undefined);
  if (root === undefined) return undefined;
  const prefix = root === '/' ? '/' : `${root}/`;
  const name = cgroup.slice(prefix.length).split('/')[0] ?? '';
  return { name, path: prefix + name };
}

/** "the kernel's OOM killer killed tail (pid 2546, 22.5MiB) of workload batch: /node was at its limit". */
export function kernelKillMessage(kill: KernelKill, workload: string | undefined): string {
  const { constraint, limitedCgroup, cgroup, pid, name, anonBytes } = kill;
  const of = workload === undefined ? (cgroup === undefined ? '' : ` of ${cgroup}`) : ` of workload ${workload}`;
  const why = constraint === 'global' ? 'the machine was out of memory' : `${limitedCgroup ?? 'its cgroup'} was at its limit`;
  return `the kernel's OOM killer killed ${name} (pid ${String(pid)}, ${amountOfBytes(anonBytes)})${of}: ${why}`;
}
