import { readdir, readFile, readlink } from 'node:fs/promises';
import { isOfKubelet } from '../../core/container-garbage.js';
import { errnoName } from '../../errors.js';
import { daemonName, executableName } from './doctor/daemon-name.js';

const APART_NS = 60_000_000_000n;
/** What says nothing of the process that was looked at. */
const EXHAUSTED_OR_GONE = ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOENT', 'ESRCH'];

/** Whether a kubelet manages a container runtime: its label is on a pod, or it runs on this machine, by the executables of processes, which are looked at once a minute at most. */
export class Kubelet {
  readonly #proc: string;
  readonly #linkOf: (path: string) => Promise<string>;
  #looking: Promise<boolean> | undefined;
  /** As it was last known; until then there may be one. */
  #runs = true;
  #atNs = 0n;

  /** @param proc  '/proc' */
  constructor(proc = '/proc', linkOf: (path: string) => Promise<string> = readlink) {
    this.#proc = proc;
    this.#linkOf = linkOf;
  }

  /** Of all pods and containers of one runtime. Where processes cannot be looked at, what was known before stays, and they are looked at again with the next question. Never rejects. */
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
    const pids = (await readdir(this.#proc)).filter((name) => /^\d+$/.test(name));
    for (const pid of pids) if (await this.#isKubelet(`${this.#proc}/${pid}`)) return true;
    return false;
  }

  /** By its executable; by its name where that is closed to evictd. Rejects where that is not known. */
  async #isKubelet(directory: string): Promise<boolean> {
    try {
      const executable = await this.#executableOf(directory);
      // The name of who is not called so need not be read.
      if (executable !== undefined && daemonName({ executable, comm: 'k3s-agent', unit: undefined }) !== 'kubelet') return false;
      const comm = (await readFile(`${directory}/comm`, 'utf8')).trim();
      return executable === undefined ? comm === 'kubelet' : daemonName({ executable, comm, unit: undefined }) === 'kubelet';
    } catch (error) {
      if (['ENOENT', 'ESRCH'].includes(errnoName(error) ?? '')) return false; // a kernel thread, or it has ended
      throw error;
    }
  }

  /** The last part of its path; undefined: evictd may not know. */
  async #executableOf(directory: string): Promise<string | undefined> {
    try {
      return executableName(await this.#linkOf(`${directory}/exe`));
    } catch (error) {
      if (EXHAUSTED_OR_GONE.includes(errnoName(error) ?? '')) throw error;
      return undefined; // closed to evictd, or a path that is too long
    }
  }
}
