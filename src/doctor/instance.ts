import { degraded, ok, unseen, type Check } from './check.js';
import type { InstanceFacts, ReloadFacts, ServiceFacts } from './facts/process.js';
import { isUnseen } from './facts/unseen.js';

const ID = 'service.instance';
const ID_VERSION = 'service.version';
const ID_CONFIGURATION = 'service.configuration';

/**
 * Whether an evictd guards this node, which, and whether with the configuration that it was to have.
 *
 * @param reload  of the running one
 */
export function checkInstance(instance: InstanceFacts, service: ServiceFacts, version: string, reload: ReloadFacts): Check[] {
  switch (instance.kind) {
    case 'unseen':
      return [unseen(ID, 'whether an evictd guards this node', instance)];
    case 'none': {
      const isActive = service.kind === 'unit' && service.properties.ActiveState === 'active';
      const { dryRun } = instance;
      if (dryRun !== undefined) {
        const fix = isActive
          ? 'take --dry-run out of RUN_OPTIONS (systemctl cat evictd shows where it stands), then systemctl daemon-reload && systemctl restart evictd'
          : 'evictd run without --dry-run';
        return [
          degraded(ID, `process ${String(dryRun)} is a dry run: it says whom it would evict, and evicts nobody`, fix, {
            pid: null,
            dryRun,
          }),
        ];
      }
      if (isActive) {
        const said = 'evictd.service is active, and guards another node than this configuration names, or from another runtime directory';
        return [degraded(ID, said, 'call doctor with the configuration of the service (systemctl cat evictd)', { pid: null })];
      }
      return [degraded(ID, 'no evictd guards this node now', 'systemctl start evictd, or evictd run', { pid: null })];
    }
    case 'running':
      return checkRunning(instance, version, reload);
  }
}

export function checkRunning(
  instance: Extract<InstanceFacts, { readonly kind: 'running' }>,
  version: string,
  reload: ReloadFacts,
): Check[] {
  return [
    ok(ID, `process ${String(instance.pid)} guards this node`, { pid: instance.pid }),
    ...checkVersion(instance.version, version),
    checkReload(reload),
  ];
}

function checkVersion(running: string | undefined, version: string): Check[] {
  if (running === undefined) return [];
  const details = { running, installed: version };
  if (running === version) return [ok(ID_VERSION, `it is this version, ${version}`, details)];
  return [degraded(ID_VERSION, `it is version ${running}, this is ${version}`, 'systemctl restart evictd', details)];
}

function checkReload(reload: ReloadFacts): Check {
  if (isUnseen(reload)) return unseen(ID_CONFIGURATION, 'whether it has refused a configuration', reload);
  const { refused } = reload;
  if (refused === undefined) return ok(ID_CONFIGURATION, 'it has refused no configuration', { refused: [] });
  const [first = 'it does not say why', ...others] = refused;
  const more = others.length === 0 ? '' : `; and ${String(others.length)} more`;
  const said = `it has refused its configuration, and guards with the one before: ${first}${more}`;
  return degraded(ID_CONFIGURATION, said, 'correct it (evictd config check says all that is wrong), then evictd reload', { refused });
}
