import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { DaemonsFacts } from '../../../host/facts/daemon-facts.js';

const ID = 'daemon.others';

/** Lists the other daemons that end processes; each has a check of its own (daemon.NAME). */
export function checkOtherDaemons({ found, hidden }: DaemonsFacts): Check {
  const names = found.map(({ name }) => name);
  const summary = names.length === 0 ? 'no other eviction daemon runs' : `other eviction daemons: ${names.join(', ')}`;
  if (hidden === undefined) return ok(ID, summary, { names });
  return degraded(ID, `${summary}, but not all processes are visible: ${hidden}`, "run evictd doctor as root in the host's PID namespace", {
    names,
  });
}

export const otherDaemonsCheck = defineCheck(ID, ['daemons'], ({ daemons }) => checkOtherDaemons(daemons));
