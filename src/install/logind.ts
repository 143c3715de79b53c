import { EvictdError } from '../errors.js';
import { isOurs } from './installed.js';
import { fileText, type InstallStep } from './step.js';

/** What lets a shutdown wait for as long as the configuration asks for. */
export interface LogindRequest {
  /** Asked for. One that is there already follows the configuration without. */
  readonly wanted: boolean;
  /** 'InhibitDelayMaxSec=30'; undefined: the configuration asks for no time. */
  readonly setting: string | undefined;
  /** Whether logind waits for so long as it is; undefined: not known. */
  readonly suffices: boolean | undefined;
}

/** logind takes its files over at SIGHUP; `systemctl reload` it has in later versions only (not in 252). */
const TAKE_OVER: InstallStep = { action: 'run', command: ['systemctl', 'kill', '--signal=HUP', 'systemd-logind.service'], mayFail: true };

/** @throws EvictdError  it is asked for, and cannot be made */
export function logindSteps({ wanted, setting, suffices }: LogindRequest, path: string): readonly InstallStep[] {
  if (hasDropIn(path)) {
    if (setting === undefined) return removeLogindSteps(path);
    const text = dropIn(setting);
    const present = fileText(path);
    const isSame = typeof present === 'object' && present.text === text;
    if (!isSame) return [{ action: 'write', path, text }, TAKE_OVER];
    const keep: InstallStep = { action: 'keep', path, why: 'unchanged' };
    return suffices === false ? [keep, TAKE_OVER] : [keep];
  }
  if (!wanted) return [];
  if (setting === undefined) {
    throw new EvictdError(
      'EVICTD_INSTALL_LOGIND',
      'the configuration asks for no time at a shutdown, so there is nothing for logind to wait for',
      {
        hint: 'set shutdownGracePeriod first (docs/shutdown.md), or leave --logind-drop-in out',
      },
    );
  }
  if (fileText(path) !== undefined) {
    throw new EvictdError('EVICTD_INSTALL_FOREIGN', `${path} is there, and \`evictd install\` has not written it`, {
      hint: `set ${setting} in it, and leave --logind-drop-in out`,
    });
  }
  if (suffices === true) return [{ action: 'keep', path, why: 'not needed: logind lets a shutdown wait long enough' }];
  return [{ action: 'write', path, text: dropIn(setting) }, TAKE_OVER];
}

/** None where `evictd install` has not written it. */
export function removeLogindSteps(path: string): readonly InstallStep[] {
  return hasDropIn(path) ? [{ action: 'remove', path }, TAKE_OVER] : [];
}

/** One that `evictd install` has written. */
export function hasDropIn(path: string): boolean {
  const present = fileText(path);
  return typeof present === 'object' && isOurs(present.text);
}

function dropIn(setting: string): string {
  return `# Written by \`evictd install\`, removed by \`evictd uninstall\`: how long a shutdown may wait for workloads, as evictd's configuration asks for
[Login]
${setting}
`;
}
