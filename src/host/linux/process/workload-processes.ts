import { statSync } from 'node:fs';
import type { VictimProcess } from '../../../core/oom/victim-process.js';
import { cgroupDirectory, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { Workload } from '../../../core/workload/workload.js';
import type { ProcessReader } from '../../../monitor/ports/process-records.js';
import type { Binding } from '../../../native/binding.js';
import { namesText } from '../../../byte-paths.js';
import { fieldOf, textOf } from '../oom/oom-domain.js';

/** Processes that are described. */
const LISTED = 5;
/** Characters of a command line. */
const COMMAND = 128;

export class WorkloadProcesses implements ProcessReader {
  readonly #users = new Users();

  constructor(
    private readonly native: Pick<Binding, 'CgroupHandle'>,
    private readonly hierarchy: CgroupHierarchy,
  ) {}

  *read({ path, startOrder }: Workload, compared: number): Generator<void, readonly VictimProcess[]> {
    const pids = this.#pidsIn(path, startOrder).slice(0, compared);
    const pages = new Map<number, number>();
    for (const pid of pids.length > LISTED ? pids : []) {
      pages.set(pid, Number(textOf(`/proc/${String(pid)}/statm`)?.split(' ')[1] ?? 0));
      yield;
    }
    const largest = [...pids].sort((a, b) => (pages.get(b) ?? 0) - (pages.get(a) ?? 0)).slice(0, LISTED);
    const found: VictimProcess[] = [];
    for (const pid of largest) {
      const seen = processOf(pid, this.#users);
      if (seen) found.push(seen);
      yield;
    }
    return found.sort((a, b) => (b.rssBytes ?? 0) - (a.rssBytes ?? 0));
  }

  /** Empty: it has ended, or its processes cannot be listed. 0 is a process outside this pid namespace. */
  #pidsIn(path: string, id: bigint): readonly number[] {
    try {
      const handle = new this.native.CgroupHandle(cgroupDirectory(this.hierarchy, path), id);
      try {
        return handle.processes().filter((pid) => pid > 0);
      } finally {
        handle.close();
      }
    } catch {
      return [];
    }
  }
}

/** undefined: it has ended, or may not be read. */
function processOf(pid: number, users: Users): VictimProcess | undefined {
  const directory = `/proc/${String(pid)}`;
  const status = textOf(`${directory}/status`);
  const name = status && fieldOf(status, 'Name');
  if (name === undefined) return undefined;
  const [, uid] = /^(\d+)/.exec(fieldOf(status ?? '', 'Uid') ?? '') ?? [];
  const [, rssKib] = /^(\d+) kB$/.exec(fieldOf(status ?? '', 'VmRSS') ?? '') ?? [];
  const command = (textOf(`${directory}/cmdline`) ?? '').replace(/\0+$/, '').replaceAll('\0', ' ').slice(0, COMMAND);
  const score = textOf(`${directory}/oom_score`)?.trim();
  const user = uid === undefined ? undefined : users.nameOf(uid);
  return {
    pid,
    name,
    ...(command !== '' && { command }),
    ...(uid !== undefined && { uid: Number(uid) }),
    ...(user !== undefined && { user }),
    ...(rssKib !== undefined && { rssBytes: Number(rssKib) * 1024 }),
    ...(score !== undefined && /^\d+$/.test(score) && rssKib !== undefined && { oomScore: Number(score) }),
  };
}

const PASSWD = '/etc/passwd';

/** The names of users in /etc/passwd. Other sources of users may need the network, so they are not asked. */
class Users {
  readonly #names = new Map<string, string>();
  #readMs = 0;

  nameOf(uid: string): string | undefined {
    try {
      const { mtimeMs } = statSync(PASSWD);
      if (mtimeMs !== this.#readMs) {
        this.#names.clear();
        for (const [, name = '', id = ''] of namesText(PASSWD).matchAll(/^([^:\n]+):[^:\n]*:(\d+):/gm)) {
          if (!this.#names.has(id)) this.#names.set(id, name);
        }
        this.#readMs = mtimeMs;
      }
    } catch {
      return undefined;
    }
    return this.#names.get(uid);
  }
}
