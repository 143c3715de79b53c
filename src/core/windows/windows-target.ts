/** How a workload of Windows is found again: a job by name, a service by name and process, a tree by its root. */
export type WindowsTarget =
  | { readonly kind: 'job'; readonly name: string }
  | { readonly kind: 'service'; readonly name: string; readonly pid: number; readonly createdAt: bigint }
  | { readonly kind: 'tree'; readonly pid: number; readonly createdAt: bigint };

/**
 * The id of the workload, as unique as Windows allows: a job that is recreated under its name has the same id. The
 * journal and the saved state keep only the id, so the next evictd can find the workload again.
 */
export function targetId(target: WindowsTarget): string {
  switch (target.kind) {
    case 'job':
      return `job:${target.name}`;
    case 'service':
      return `service:${String(target.pid)}:${String(target.createdAt)}:${target.name}`;
    case 'tree':
      return `${String(target.pid)}:${String(target.createdAt)}`;
  }
}

/** undefined: none of these. */
export function targetOf(id: string): WindowsTarget | undefined {
  if (id.startsWith('job:')) return { kind: 'job', name: id.slice('job:'.length) };
  const [, service, pid = '', createdAt = '', name = ''] = /^(service:)?(\d{1,10}):(\d{1,20})(?::(.*))?$/s.exec(id) ?? [];
  if (pid === '' || (service === undefined) !== (name === '')) return undefined;
  const root = { pid: Number(pid), createdAt: BigInt(createdAt) };
  return service === undefined ? { kind: 'tree', ...root } : { kind: 'service', name, ...root };
}
