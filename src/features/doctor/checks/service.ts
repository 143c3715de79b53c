import { broken, degraded, ok, unseen, type Check, command } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { hasSystemd, isUnseen } from '../../../host/facts.js';

/** Whether systemd starts evictd at boot and restarts it. */
export const serviceUnitCheck = defineCheck('service.unit', ['service'], ({ service }, id) => {
  if (service.kind === 'no systemd') return ok(id, 'systemd is not the init of this machine', { systemd: false });
  if (service.kind === 'unseen') return unseen(id, 'state of evictd.service', service);
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
    return degraded(id, 'evictd.service is not installed: evictd does not start at boot', command('evictd install --now'), details);
  if (load !== 'loaded')
    return broken(
      id,
      `evictd.service is ${load ?? 'unknown'}`,
      `${command('systemctl unmask evictd')}; systemctl status evictd shows the reason`,
      details,
    );
  const state = `evictd.service is ${file ?? 'unknown'} and ${active ?? 'unknown'}${sub === undefined || sub === 'running' ? '' : ` (${sub})`}`;
  if (active === 'failed')
    return broken(
      id,
      `${state}: ${result ?? ''}`,
      `journalctl -u evictd -e shows the reason; then ${command('systemctl restart evictd')}`,
      details,
    );
  if (active !== 'active') return degraded(id, state, command('systemctl start evictd'), details);
  if (changed === 'yes')
    return degraded(
      id,
      `${state}, but its unit file has changed since`,
      command('systemctl daemon-reload && systemctl restart evictd'),
      details,
    );
  if (file !== 'enabled') return degraded(id, `${state}: it does not start at the next boot`, command('systemctl enable evictd'), details);
  return ok(id, state, details);
});

export const instanceCheck = defineCheck('service.instance', ['instance', 'service'], ({ instance, service }, id) => {
  if (instance.kind === 'unseen') return unseen(id, 'whether an evictd guards this node', instance);
  if (instance.kind === 'running') return ok(id, `process ${String(instance.pid)} guards this node`, { pid: instance.pid });
  const isActive = service.kind === 'unit' && service.properties.ActiveState === 'active';
  if (instance.dryRun !== undefined) {
    const fix = isActive
      ? 'remove --dry-run from RUN_OPTIONS (systemctl cat evictd shows the file), then systemctl daemon-reload && systemctl restart evictd'
      : 'evictd run without --dry-run';
    return dryRun(id, instance.dryRun, fix);
  }
  if (isActive) {
    const summary = 'evictd.service is active, but guards another node than this configuration names, or uses another runtime directory';
    return degraded(id, summary, 'run doctor with the configuration of the service (systemctl cat evictd)', { pid: null });
  }
  return degraded(id, 'no evictd guards this node now', hasSystemd(service) ? 'see service.unit; or evictd run' : 'evictd run', {
    pid: null,
  });
});

export function dryRun(id: string, pid: number, fix: string): Check {
  return degraded(id, `process ${String(pid)} is a dry run: it evicts nothing`, fix, { pid: null, dryRun: pid });
}

export const windowsInstanceCheck = defineCheck('service.instance', ['instance'], ({ instance }, id) => {
  switch (instance.kind) {
    case 'unseen':
      return unseen(id, 'whether an evictd guards this node', instance);
    case 'running':
      return ok(id, `process ${String(instance.pid)} guards this node`, { pid: instance.pid });
    case 'none':
      if (instance.dryRun !== undefined) return dryRun(id, instance.dryRun, 'evictd run without --dry-run');
      return degraded(id, 'no evictd guards this node now', 'evictd install --now, or evictd run', { pid: null });
  }
});

export const windowsServiceCheck = defineCheck('service.manager', ['windowsService'], ({ windowsService: service }, id) => {
  if (isUnseen(service)) return unseen(id, 'whether evictd is a service', service);
  const { state } = service;
  if (!('pid' in service))
    return degraded(id, 'evictd is not a service: it does not start at boot', command('evictd install --now'), { state });
  const details = { state, pid: service.pid };
  if (state === 'running') return ok(id, `the service evictd is running (process ${String(service.pid)})`, details);
  return degraded(
    id,
    `the service evictd is ${state}`,
    `${command('net start evictd')}; %ProgramData%\\evictd\\evictd.log has the reason`,
    details,
  );
});

export const runningVersionCheck = defineCheck(
  'service.version',
  ['instance', 'version', 'service'],
  ({ instance, version, service }, id) => {
    if (instance.kind !== 'running' || instance.version === undefined) return [];
    const details = { running: instance.version, installed: version };
    if (instance.version === version) return [ok(id, `the running evictd has this version, ${version}`, details)];
    const summary = `the running evictd has version ${instance.version}, this program has ${version}`;
    return [degraded(id, summary, hasSystemd(service) ? command('systemctl restart evictd') : 'restarting evictd', details)];
  },
);

export const runningConfigurationCheck = defineCheck('service.configuration', ['instance', 'reload'], ({ instance, reload }, id) => {
  if (instance.kind !== 'running') return [];
  if (isUnseen(reload)) return [unseen(id, 'result of the last reload', reload)];
  const { refused } = reload;
  if (refused === undefined) return [ok(id, 'the running evictd has accepted its configuration', { refused: [] })];
  const [first = 'no reason given', ...others] = refused;
  const more = others.length === 0 ? '' : `; and ${String(others.length)} more`;
  const summary = `the running evictd refused its configuration and keeps the previous one: ${first}${more}`;
  return [degraded(id, summary, 'correct it (evictd config check lists all errors), then evictd reload', { refused })];
});

/** Whether the running evictd evicts nothing because it has crashed too often. */
export const safeModeCheck = defineCheck(
  'service.safe-mode',
  ['instance', 'crashes', 'service'],
  ({ instance, crashes: found, service }, id) => {
    if (instance.kind !== 'running') return [];
    if (isUnseen(found)) return [unseen(id, 'whether the running evictd is in safe mode', found)];
    const { crashes, limit } = found;
    const times = `${String(crashes)} ${crashes === 1 ? 'time' : 'times'}`;
    if (crashes === 0) return [ok(id, 'the running evictd has not crashed', { crashes, safeMode: false })];
    if (limit === 0 || crashes < limit) return [ok(id, `evictd has crashed ${times} in a row, and evicts`, { crashes, safeMode: false })];
    const log = hasSystemd(service) ? 'journalctl -u evictd' : 'its log';
    const fix = `${log} shows the crashes; remove the cause first: evictd resume ends the safe mode at once`;
    const what = 'it has crashed, or the machine went down soon after an eviction,';
    return [broken(id, `the running evictd is in safe mode and evicts nothing: ${what} ${times}`, fix, { crashes, safeMode: true })];
  },
);

export const pauseCheck = defineCheck('service.pause', ['instance', 'pauses'], ({ instance, pauses: found }, id) => {
  if (instance.kind !== 'running') return [];
  if (isUnseen(found)) return [unseen(id, 'whether evictions are paused', found, found.hint)];
  const { messages } = found;
  if (messages.length === 0) return [ok(id, 'evictions are not paused', { pauses: [] })];
  return [degraded(id, messages.join('; '), 'they end by themselves; evictd resume ends all pauses', { pauses: messages })];
});

/** Whether systemd restarts an evictd that hangs. */
export const watchdogCheck = defineCheck('service.watchdog', ['service'], ({ service }, id) => {
  if (service.kind !== 'unit' || service.properties.ActiveState !== 'active') return [];
  const { WatchdogUSec: watchdog, Restart: restart } = service.properties;
  const details = { watchdog: watchdog ?? null, restart: restart ?? null };
  const fix = `${command('evictd install')} writes a unit with WatchdogSec and Restart=always`;
  if (watchdog === undefined || watchdog === '0' || watchdog === 'infinity')
    return [degraded(id, 'the service has no watchdog: systemd does not restart an evictd that hangs', fix, details)];
  if (restart !== 'always')
    return [degraded(id, `watchdog ${watchdog}, but Restart=${restart ?? 'no'}: systemd does not restart it in every case`, fix, details)];
  return [ok(id, `${watchdog}, Restart=always`, details)];
});
