/** Properties of every kind of unit. StartLimitAction= can follow only if systemd restarts the unit. */
const ACTIONS = ['FailureAction', 'SuccessAction'];
const STARTS = ['OnFailure', 'OnSuccess'];
/** Starting one of these ends all units, whatever the job mode. */
const ENDS_ALL =
  /^(reboot|poweroff|halt|kexec|exit|soft-reboot|shutdown|ctrl-alt-del|runlevel[06])\.target$|^systemd-(reboot|poweroff|halt|kexec|exit|soft-reboot)\.service$/;

/**
 * What systemd does to the machine when a unit has ended ('FailureAction=reboot'); undefined: nothing.
 *
 * @param unit its properties of org.freedesktop.systemd1.Unit; unknown ones count as unset
 */
export function emergencyActionOf(unit: Readonly<Record<string, unknown>>, restart: string): string | undefined {
  const mayRestart = restart !== '' && restart !== 'no';
  for (const name of mayRestart ? [...ACTIONS, 'StartLimitAction'] : ACTIONS) {
    const action = unit[name];
    if (typeof action === 'string' && action !== '' && action !== 'none') return `${name}=${action}`;
  }
  for (const name of STARTS) {
    const started = unit[name];
    if (!Array.isArray(started) || started.length === 0) continue;
    if (unit[`${name}JobMode`] === 'isolate') return `${name}=${started.join(' ')} with ${name}JobMode=isolate`;
    const ends = started.find((other) => typeof other === 'string' && ENDS_ALL.test(other)) as string | undefined;
    if (ends !== undefined) return `${name}=${ends}`;
  }
  return undefined;
}
