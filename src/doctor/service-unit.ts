import { broken, degraded, ok, unseen, type Check } from './check.js';
import type { ServiceFacts } from './facts/process.js';

const ID = 'service.unit';

/** Whether systemd starts evictd, and starts it again. */
export function checkServiceUnit(service: ServiceFacts): Check {
  if (service.kind === 'no systemd') return ok(ID, 'systemd is not the init of this machine', { systemd: false });
  if (service.kind === 'unseen') return unseen(ID, 'what systemd knows of evictd.service', service);
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
    return degraded(ID, 'evictd.service is not installed: nobody starts evictd at boot', 'evictd install --now', details);
  if (load !== 'loaded')
    return broken(ID, `evictd.service is ${load ?? 'unknown'}`, 'systemctl status evictd, systemctl unmask evictd', details);
  const state = `evictd.service is ${file ?? 'unknown'} and ${active ?? 'unknown'}${sub === undefined || sub === 'running' ? '' : ` (${sub})`}`;
  if (active === 'failed')
    return broken(ID, `${state}: ${result ?? ''}`, 'journalctl -u evictd -e says why; systemctl restart evictd', details);
  if (active !== 'active') return degraded(ID, state, 'systemctl start evictd', details);
  if (changed === 'yes')
    return degraded(ID, `${state}, and its unit file has changed since`, 'systemctl daemon-reload, then systemctl restart evictd', details);
  if (file !== 'enabled') return degraded(ID, `${state}: it is not started at the next boot`, 'systemctl enable evictd', details);
  return ok(ID, state, details);
}
