/** What a workload of Windows is, as far as it can be found again: a job by its name, a service by its name and its process, a tree by its root. */
export type WindowsTarget =
  | { readonly kind: 'job'; readonly name: string }
  | { readonly kind: 'service'; readonly name: string; readonly pid: number; readonly createdAt: bigint }
  | { readonly kind: 'tree'; readonly pid: number; readonly createdAt: bigint };

/**
 * The id of its workload: unique for ever, as far as the system lets it be: a job that is made again under its name has the same. It is all that the journal and the state keep, so that the next evictd
 * finds the same one again.
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

/** undefined: it is none of these. */
export function targetOf(id: string): WindowsTarget | undefined {
  if (id.startsWith('job:')) return { kind: 'job', name: id.slice('job:'.length) };
  const [, service, pid = '', createdAt = '', name = ''] = /^(service:)?(\d{1,10}):(\d{1,20})(?::(.*))?$/s.exec(id) ?? [];
  if (pid === '' || (service === undefined) !== (name === '')) return undefined;
  const root = { pid: Number(pid), createdAt: BigInt(createdAt) };
  return service === undefined ? { kind: 'tree', ...root } : { kind: 'service', name, ...root };
}
