import { readdir, readFile, readlink } from 'node:fs/promises';
import { isOfKubelet } from '../../../core/disk/container-garbage.js';
import { errnoName } from '../../../errors.js';
import { daemonName, executableName } from './daemon-name.js';

const APART_NS = 60_000_000_000n;
/** Errors that say nothing about the process. */
const EXHAUSTED_OR_GONE = ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOENT', 'ESRCH'];

/**
 * Finds out whether a kubelet manages a container runtime: a pod has its label, or it runs on this machine. Processes
 * are searched at most once a minute.
 */
export class Kubelet {
  #looking: Promise<boolean> | undefined;
  /** The last result; true until there is one. */
  #runs = true;
  #atNs = 0n;

  /** @param proc  '/proc' */
  constructor(
    private readonly proc = '/proc',
    private readonly linkOf: (path: string) => Promise<string> = readlink,
  ) {}

  /**
   * @param listed all pods and containers of a runtime. Never rejects: where processes cannot be searched, the last
   * result counts and the next call searches again
   */
  async manages(listed: readonly { readonly labels: Readonly<Record<string, string>> }[]): Promise<boolean> {
    return listed.some(({ labels }) => isOfKubelet(labels)) || (await this.#found());
  }

  #found(): Promise<boolean> {
    const nowNs = process.hrtime.bigint();
    if (this.#looking === undefined || nowNs - this.#atNs >= APART_NS) {
      this.#atNs = nowNs;
      this.#looking = this.#look().then(
        (runs) => (this.#runs = runs),
        () => {
          this.#looking = undefined;
          return this.#runs;
        },
      );
    }
    return this.#looking;
  }

  async #look(): Promise<boolean> {
    const pids = (await readdir(this.proc)).filter((name) => /^\d+$/.test(name));
    for (const pid of pids) if (await this.#isKubelet(`${this.proc}/${pid}`)) return true;
    return false;
  }

  /** Compares the executable, or the name if evictd may not read that. Rejects if it is unknown. */
  async #isKubelet(directory: string): Promise<boolean> {
    try {
      const executable = await this.#executableOf(directory);
      // With another executable the name need not be read.
      if (executable !== undefined && daemonName({ executable, comm: 'k3s-agent', unit: undefined }) !== 'kubelet') return false;
      const comm = (await readFile(`${directory}/comm`, 'utf8')).trim();
      return executable === undefined ? comm === 'kubelet' : daemonName({ executable, comm, unit: undefined }) === 'kubelet';
    } catch (error) {
      if (['ENOENT', 'ESRCH'].includes(errnoName(error) ?? '')) return false; // a kernel thread, or it has ended
      throw error;
    }
  }

  /** undefined: not permitted. */
  async #executableOf(directory: string): Promise<string | undefined> {
    try {
      return executableName(await this.linkOf(`${directory}/exe`));
    } catch (error) {
      if (EXHAUSTED_OR_GONE.includes(errnoName(error) ?? '')) throw error;
      return undefined; // not permitted, or the path is too long
    }
  }
}
