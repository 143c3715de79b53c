import { broken, degraded, ok, unseen, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { ServiceFacts } from '../../../host/facts/process-facts.js';

const ID = 'service.unit';

/** Whether systemd starts evictd at boot and restarts it. */
export function checkServiceUnit(service: ServiceFacts): Check {
  if (service.kind === 'no systemd') return ok(ID, 'systemd is not the init of this machine', { systemd: false });
  if (service.kind === 'unseen') return unseen(ID, 'state of evictd.service', service);
  const {
    LoadState: load,
    ActiveState: active,
    SubState: sub,
    UnitFileState: file,
    NeedDaemonReload: changed,
    Result: result,
  } = service.properties;
  const details = {
    systemd: true,
    load: load ?? null,
    active: active ?? null,
    sub: sub ?? null,
    file: file ?? null,
    result: result ?? null,
  };
  if (load === 'not-found')
    return degraded(ID, 'evictd.service is not installed: evictd does not start at boot', 'evictd install --now', details);
  if (load !== 'loaded')
    return broken(
      ID,
      `evictd.service is ${load ?? 'unknown'}`,
      'systemctl unmask evictd; systemctl status evictd shows the reason',
      details,
    );
  const state = `evictd.service is ${file ?? 'unknown'} and ${active ?? 'unknown'}${sub === undefined || sub === 'running' ? '' : ` (${sub})`}`;
  if (active === 'failed')
    return broken(ID, `${state}: ${result ?? ''}`, 'journalctl -u evictd -e shows the reason; then systemctl restart evictd', details);
  if (active !== 'active') return degraded(ID, state, 'systemctl start evictd', details);
  if (changed === 'yes')
    return degraded(ID, `${state}, but its unit file has changed since`, 'systemctl daemon-reload, then systemctl restart evictd', details);
  if (file !== 'enabled') return degraded(ID, `${state}: it does not start at the next boot`, 'systemctl enable evictd', details);
  return ok(ID, state, details);
}

export const serviceUnitCheck = defineCheck(ID, ['service'], ({ service }) => checkServiceUnit(service));
