import type { OomReading } from '../core/oom-reading.js';
import { selectHost } from '../host/select.js';

/** What the kernel's OOM killer would look at in this memcg; undefined: on the machine. Throws UnavailableError where the memcg is missing. */
export function readOomKiller(cgroup: string | undefined): OomReading {
  return selectHost().readOomKiller(cgroup);
}
