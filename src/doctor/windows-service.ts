import { degraded, ok, unseen, type Check } from './check.js';
import type { InstanceFacts } from './facts/process.js';
import { isUnseen } from './facts/unseen.js';
import type { WindowsServiceFacts } from './facts/windows.js';

const ID = 'service.manager';
const ID_INSTANCE = 'service.instance';

/** What the service manager of Windows says of evictd. */
export function checkService(service: WindowsServiceFacts): Check {
  if (isUnseen(service)) return unseen(ID, 'whether evictd is a service', service);
  const { state } = service;
  if (!('pid' in service)) return degraded(ID, 'evictd is no service: nobody starts it after a boot', 'evictd install --now', { state });
  const details = { state, pid: service.pid };
  if (state === 'running') return ok(ID, `the service evictd runs (process ${String(service.pid)})`, details);
  return degraded(
    ID,
    `the service evictd is ${state}`,
    'net start evictd; %ProgramData%\\evictd\\evictd.log says why it has ended',
    details,
  );
}

/** Nobody guards the node, or it cannot be told. */
export function checkGuarded(instance: Exclude<InstanceFacts, { readonly kind: 'running' }>): Check {
  if (instance.kind === 'unseen') return unseen(ID_INSTANCE, 'whether an evictd guards this node', instance);
  const { dryRun } = instance;
  if (dryRun === undefined)
    return degraded(ID_INSTANCE, 'no evictd guards this node now', 'evictd install --now, or evictd run', { pid: null });
  const said = `process ${String(dryRun)} is a dry run: it says whom it would evict, and evicts nobody`;
  return degraded(ID_INSTANCE, said, 'evictd run without --dry-run', { pid: null, dryRun });
}
