import { readFileSync, writeFileSync } from 'node:fs';
import { memoryController, testCgroup, type TestCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import type { Bench } from './benchmark.js';
import { compile, Conversation } from './c-program.js';
import { usageOf } from './tree.js';

export const MiB = 1n << 20n;
export const CAPACITY = 512n * MiB;
export const THRESHOLD = 100n * MiB;
/** Usage at which the threshold is met. */
export const CROSSING = CAPACITY - THRESHOLD;

const BYSTANDERS = 8;
const BYSTANDER = 16n * MiB;
/** From the start of a slow fill to the crossing: the whole way at 50 MB/s would take 6 s. */
const RUN_UP = 64n * MiB;

/** How fast memory is filled, and with what. */
export interface Fill {
  readonly name: string;
  readonly pages: 'small' | 'huge';
  /** 0: as fast as it can. */
  readonly bytesPerSecond: number;
}

/** A cgroup that is the node, with bystanders that hold some of it, and one workload that fills the rest. */
export class Arena {
  readonly node: TestCgroup;
  readonly filling: TestCgroup;
  readonly #bench: Pick<Bench, 'cleanup'>;
  readonly #program: string;
  readonly #progress: string;
  readonly #bystanders: { readonly cgroup: TestCgroup; process: Conversation | undefined }[];

  constructor(bench: Pick<Bench, 'cleanup'>) {
    this.#bench = bench;
    this.#program = compile(bench, 'fill');
    this.#progress = `${this.#program}.progress`;
    writeFileSync(this.#progress, Buffer.alloc(16)); // here, so that its page is not the node's
    this.node = testCgroup();
    bench.cleanup(() => this.node.cleanup());
    this.node.limit(CAPACITY);
    this.filling = this.node.child('filling');
    this.#bystanders = Array.from({ length: BYSTANDERS }, (_, index) => ({
      cgroup: this.node.child(`bystander${String(index)}`),
      process: undefined,
    }));
  }

  /** Starts missing bystanders and returns their number: after the first time those that were killed. */
  async populate(): Promise<number> {
    let missing = 0;
    for (const bystander of this.#bystanders) {
      if (bystander.process?.isAlive === true) continue;
      missing += 1;
      bystander.process = await this.#start(bystander.cgroup, 'small');
      await take(bystander.process, BYSTANDER, 0);
    }
    return missing;
  }

  /** A process that has taken its run-up, and waits; and how to let it go. It continues until it is killed. */
  async filler({ pages, bytesPerSecond }: Fill): Promise<{ readonly process: Conversation; readonly go: () => void }> {
    await eventually('the memory is free again', () => usageOf(this.node) < BYSTANDER * BigInt(BYSTANDERS) + 32n * MiB);
    const process = await this.#start(this.filling, pages);
    const runUp = CROSSING - usageOf(this.node) - RUN_UP;
    if (bytesPerSecond > 0) await take(process, runUp, 0);
    if (memoryController()?.version === 1) this.node.write('memory.max_usage_in_bytes', '0');
    return {
      process,
      go: () => {
        process.tell(`${String(2n * CAPACITY)} ${String(bytesPerSecond)}`);
      },
    };
  }

  /** The real rate of a fill far from the threshold, in bytes a second, and its share of huge pages. */
  async probe({ pages, bytesPerSecond }: Fill): Promise<{ readonly bytesPerSecond: number; readonly hugeShare: number }> {
    const process = await this.#start(this.filling, pages);
    const ns = await take(process, RUN_UP, bytesPerSecond);
    const rollup = readFileSync(`/proc/${String(process.pid)}/smaps_rollup`, 'utf8');
    const hugeKiB = Number(/^AnonHugePages:\s+(\d+) kB/m.exec(rollup)?.[1]);
    await process.kill();
    return { bytesPerSecond: (Number(RUN_UP) / ns) * 1e9, hugeShare: (hugeKiB * 1024) / Number(RUN_UP) };
  }

  /** The real rate of the last fill, from its start to its end. */
  get filledBytesPerSecond(): number {
    const progress = readFileSync(this.#progress);
    return (Number(progress.readBigInt64LE(0)) / Number(progress.readBigInt64LE(8))) * 1e9;
  }

  /** OOM kills of the kernel here. On v1 each cgroup counts only its own. */
  get kernelKills(): number {
    const file = memoryController()?.version === 1 ? 'memory.oom_control' : 'memory.events.local';
    const cgroups = [this.filling, ...this.#bystanders.map(({ cgroup }) => cgroup)];
    return cgroups.map((cgroup) => Number(/^oom_kill (\d+)$/m.exec(cgroup.read(file))?.[1])).reduce((sum, count) => sum + count, 0);
  }

  /** The least available memory since the start of a fill; undefined: not known (v2 before Linux 6.12). */
  get leastAvailable(): bigint | undefined {
    return memoryController()?.version === 1 ? CAPACITY - BigInt(this.node.read('memory.max_usage_in_bytes')) : undefined;
  }

  async #start(cgroup: TestCgroup, pages: Fill['pages']): Promise<Conversation> {
    const process = new Conversation(this.#bench, cgroup, [this.#program, pages, this.#progress]);
    await process.line();
    return process;
  }
}

/** Returns its duration in nanoseconds. */
async function take(process: Conversation, bytes: bigint, bytesPerSecond: number): Promise<number> {
  process.tell(`${String(bytes)} ${String(bytesPerSecond)}`);
  return Number(await process.line());
}
