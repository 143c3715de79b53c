import type { OnWake } from '../../src/native/watch.js';
import type { Job, ProcessEntry, ProcessHandle, ServiceEntry, WindowsBinding } from '../../src/native/windows-binding.js';

export interface Started {
  readonly name: string;
  readonly pid?: number;
  readonly path?: string;
  readonly parent?: number;
  readonly critical?: boolean;
  readonly privateBytes?: bigint;
  /** It cannot be opened or queried. */
  readonly closed?: boolean;
  /** Starts a child at each listing of processes, this often; children do so, too, if `forking`. */
  readonly forks?: number;
}

interface Playing {
  entry: ProcessEntry;
  readonly closed: boolean;
  forks: number;
  isEnding: boolean;
}

/**
 * Simulated processes, jobs and services behind the contract of the addon, for tests of the requests, their order and
 * the use of the answers. The addon itself is tested under Wine.
 *
 * Terminated processes exist until `settle`: TerminateProcess returns at once. A process id is not reused while a
 * handle is open, as in Windows.
 */
export class PlayedWindows implements Pick<WindowsBinding, 'WAKE' | 'processes' | 'ProcessHandle' | 'Job' | 'services' | 'stopService'> {
  readonly WAKE = { FIRED: 1, GONE: 2 } as const;
  readonly ProcessHandle: WindowsBinding['ProcessHandle'];
  readonly Job: WindowsBinding['Job'];
  readonly #processes = new Map<number, Playing>();
  readonly #services = new Map<string, ServiceEntry>();
  readonly #jobs = new Map<string, { readonly pids: Set<number>; readonly commitLimit: bigint }>();
  readonly #handles = new Set<{ readonly pid: number; readonly onWake: OnWake }>();
  /** Requests in order: 'terminate 12', 'stop web', 'terminate job batch'. */
  readonly done: string[] = [];
  /** Errors to come by request: 'processes', 'stop web', 'open 12', 'terminate 12', 'job batch'. */
  readonly refusals = new Map<string, Error>();
  /** Called once, after the next listing of processes. */
  afterLook: (() => void) | undefined;
  openJobs = 0;
  #nextPid = 100;
  #now = 1_000_000n;

  constructor() {
    this.ProcessHandle = this.#handleClass();
    this.Job = this.#jobClass();
  }

  get openHandles(): number {
    return this.#handles.size;
  }

  start({
    name,
    pid,
    path = `C:\\Apps\\${name}`,
    parent = 0,
    critical = false,
    privateBytes = 10n,
    closed = false,
    forks = 0,
  }: Started): number {
    const own = pid ?? this.#nextPid++;
    if (this.#processes.has(own) || [...this.#handles].some((handle) => handle.pid === own)) throw new Error(`${String(own)} is taken`);
    const known = closed
      ? { errno: 5, path: '', workingSetBytes: 0n, privateBytes: 0n, critical: false }
      : { errno: 0, path, workingSetBytes: privateBytes * 2n, privateBytes, critical };
    const createdAt = (this.#now += 10n);
    const entry: ProcessEntry = { pid: own, parentPid: parent, name, createdAt, cpuTimeNs: 0n, ...known };
    this.#processes.set(own, { entry, closed, forks, isEnding: false });
    return own;
  }

  /** Processes started from now on have an earlier creation time. */
  setClockBack(by: bigint): void {
    this.#now -= by;
  }

  createdAt(pid: number): bigint {
    return this.#processes.get(pid)?.entry.createdAt ?? 0n;
  }

  runs(pid: number): boolean {
    return this.#processes.has(pid);
  }

  /** Queries of it fail from now on, by default with ERROR_NO_SYSTEM_RESOURCES. */
  silence(pid: number, errno = 1450): void {
    const playing = this.#processes.get(pid);
    if (playing === undefined) return;
    playing.entry = { ...playing.entry, errno, path: '', workingSetBytes: 0n, privateBytes: 0n };
  }

  /** The process exits by itself. */
  end(pid: number): void {
    this.#processes.delete(pid);
    for (const { pids } of this.#jobs.values()) pids.delete(pid);
    for (const [name, service] of this.#services) {
      if (service.pid === pid) this.#services.set(name, { ...service, pid: 0, state: 'stopped' });
    }
    for (const handle of this.#handles) if (handle.pid === pid) handle.onWake(this.WAKE.FIRED, 7n, 0);
  }

  /** Ends terminated processes. */
  settle(): void {
    for (const [pid, { isEnding }] of [...this.#processes]) if (isEnding) this.end(pid);
  }

  /** Creates a job or replaces its processes; open handles see the new ones. */
  job(name: string, pids: readonly number[], commitBytes = 0n): void {
    const known = this.#jobs.get(name);
    if (known === undefined) {
      this.#jobs.set(name, { pids: new Set(pids), commitLimit: commitBytes });
      return;
    }
    known.pids.clear();
    for (const pid of pids) known.pids.add(pid);
  }

  service(name: string, pid: number, given: Partial<ServiceEntry> = {}): void {
    this.#services.set(name, { name, state: 'running', pid, ownProcess: true, acceptsStop: true, ...given });
  }

  static refusal(code: string): Error {
    return Object.assign(new Error(code), { code, errno: -1, syscall: 'played' });
  }

  processes(): ProcessEntry[] {
    this.#refuse('processes');
    const seen = [...this.#processes.values()].map(({ entry }) => entry);
    for (const playing of [...this.#processes.values()]) {
      if (playing.forks === 0 || playing.isEnding) continue;
      playing.forks -= 1;
      const { name, path, pid } = playing.entry;
      this.start({ name, path, parent: pid });
    }
    const { afterLook } = this;
    this.afterLook = undefined;
    afterLook?.();
    return seen;
  }

  services(): ServiceEntry[] {
    this.#refuse('services');
    return [...this.#services.values()];
  }

  stopService(name: string): void {
    this.done.push(`stop ${name}`);
    this.#refuse(`stop ${name}`);
  }

  #refuse(what: string): void {
    const refusal = this.refusals.get(what);
    if (refusal) throw refusal;
  }

  #terminate(pid: number): void {
    const playing = this.#processes.get(pid);
    if (playing) playing.isEnding = true;
  }

  #handleClass(): WindowsBinding['ProcessHandle'] {
    const find = (pid: number, createdAt: bigint): Playing => {
      this.#refuse(`open ${String(pid)}`);
      const playing = this.#processes.get(pid);
      if (playing?.closed) throw PlayedWindows.refusal('ERROR_ACCESS_DENIED');
      if (playing?.entry.createdAt !== createdAt) throw PlayedWindows.refusal('ERROR_INVALID_PARAMETER');
      return playing;
    };
    const handles = this.#handles;
    const terminate = (pid: number): void => {
      this.done.push(`terminate ${String(pid)}`);
      this.#refuse(`terminate ${String(pid)}`);
      this.#terminate(pid);
    };
    const runs = (playing: Playing): boolean => this.#processes.get(playing.entry.pid) === playing;
    return class implements ProcessHandle {
      readonly live = true;
      readonly #playing: Playing;
      readonly #open: { readonly pid: number; readonly onWake: OnWake };
      constructor(pid: number, createdAt: bigint, onWake: OnWake) {
        this.#playing = find(pid, createdAt);
        this.#open = { pid, onWake };
        handles.add(this.#open);
      }
      terminate(): void {
        terminate(this.#open.pid);
      }
      exitCode(): number | undefined {
        return runs(this.#playing) ? undefined : 1;
      }
      status() {
        return { mechanism: 'process', target: String(this.#open.pid), live: this.live, errno: 0 };
      }
      close(): void {
        handles.delete(this.#open);
      }
    };
  }

  #jobClass(): WindowsBinding['Job'] {
    const open = (name: string) => {
      this.#refuse(`job ${name}`);
      const job = this.#jobs.get(name);
      if (job === undefined) throw PlayedWindows.refusal('ERROR_FILE_NOT_FOUND');
      this.openJobs += 1;
      return job;
    };
    const terminate = (name: string, pids: ReadonlySet<number>): void => {
      this.done.push(`terminate job ${name}`);
      this.#refuse(`terminate job ${name}`);
      for (const pid of pids) this.#terminate(pid);
    };
    const closed = (): void => {
      this.openJobs -= 1;
    };
    return class implements Pick<Job, 'processes' | 'commitLimit' | 'terminate' | 'close'> {
      readonly #name: string;
      readonly #job: ReturnType<typeof open>;
      constructor(name: string) {
        this.#name = name;
        this.#job = open(name);
      }
      processes(): number[] {
        return [...this.#job.pids];
      }
      commitLimit(): bigint {
        return this.#job.commitLimit;
      }
      terminate(): void {
        terminate(this.#name, this.#job.pids);
      }
      close(): void {
        closed();
      }
    } as unknown as WindowsBinding['Job']; // assignment is not used
  }
}
