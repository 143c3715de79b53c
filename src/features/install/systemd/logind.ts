import { EvictdError } from '../../../errors.js';
import { isOurs } from './starter-config.js';
import { fileText, type InstallStep } from '../install-step.js';

/** The logind drop-in that allows the shutdown delay of the configuration. */
export interface LogindRequest {
  /** Requested. An existing drop-in is updated in any case. */
  readonly wanted: boolean;
  /** 'InhibitDelayMaxSec=30'; undefined: the configuration needs no delay. */
  readonly setting: string | undefined;
  /** Whether logind allows the delay now; undefined: unknown. */
  readonly suffices: boolean | undefined;
  /** A file that wins over the drop-in. */
  readonly winner?: string | undefined;
}

/** logind reads its files again on SIGHUP. `systemctl reload` needs a later version than 252. */
const RELOAD_LOGIND: InstallStep = {
  action: 'run',
  command: ['systemctl', 'kill', '--signal=HUP', 'systemd-logind.service'],
  mayFail: true,
};

/** @throws EvictdError  requested, but not possible */
export function logindSteps({ wanted, setting, suffices }: LogindRequest, path: string): readonly InstallStep[] {
  if (hasDropIn(path)) {
    if (setting === undefined) return removeLogindSteps(path);
    const text = dropIn(setting);
    const present = fileText(path);
    const isSame = typeof present === 'object' && present.text === text;
    if (!isSame) return [{ action: 'write', path, text }, RELOAD_LOGIND];
    const keep: InstallStep = { action: 'keep', path, why: 'unchanged' };
    return suffices === false ? [keep, RELOAD_LOGIND] : [keep];
  }
  if (!wanted) return [];
  if (setting === undefined) {
    throw new EvictdError('EVICTD_INSTALL_LOGIND', 'the configuration has no graceful shutdown, so logind needs no drop-in', {
      hint: 'set shutdownGracePeriod (docs/shutdown.md), or omit --logind-drop-in',
    });
  }
  if (fileText(path) !== undefined) {
    throw new EvictdError('EVICTD_INSTALL_FOREIGN', `${path} exists, and \`evictd install\` did not write it`, {
      hint: `set ${setting} in it, and omit --logind-drop-in`,
    });
  }
  if (suffices === true) return [{ action: 'keep', path, why: 'not needed: logind delays a shutdown long enough' }];
  return [{ action: 'write', path, text: dropIn(setting) }, RELOAD_LOGIND];
}

/** No steps if `evictd install` did not write the drop-in. */
export function removeLogindSteps(path: string): readonly InstallStep[] {
  return hasDropIn(path) ? [{ action: 'remove', path }, RELOAD_LOGIND] : [];
}

export function hasDropIn(path: string): boolean {
  const present = fileText(path);
  return typeof present === 'object' && isOurs(present.text);
}

function dropIn(setting: string): string {
  return `# Written by \`evictd install\`, removed by \`evictd uninstall\`: the delay of a shutdown for workloads, from evictd's configuration
[Login]
${setting}
`;
}
