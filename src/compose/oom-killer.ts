import type { OomReading } from '../core/oom-reading.js';
import { UnavailableError } from '../errors.js';
import { selectHost } from '../host/select.js';

/** What the kernel's OOM killer would look at in this memcg; undefined: on the machine. Throws UnavailableError where the memcg is missing. */
export function readOomKiller(cgroup: string | undefined): OomReading {
  const { oomKiller } = selectHost();
  if (oomKiller) return oomKiller.read(cgroup);
  throw new UnavailableError('EVICTD_HOST_LACKS', 'this system has no OOM killer: it kills nobody for want of memory', {
    hint: 'leave --kernel out',
  });
}
