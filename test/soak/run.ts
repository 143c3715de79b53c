// make soak: runs `evictd run` in a node where workloads start and end, thresholds move, the configuration is reloaded,
// metrics are scraped, a workload is evicted every few seconds and cgroups come and go inside one. Fails if memory,
// descriptors, threads or inotify watches of evictd grow. --seconds=N, an hour by default.
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { machine } from '../bench/machine.js';
import { RunningEvictd } from '../bench/evictd.js';
import { testCgroup } from '../support/cgroup.js';
import { growthOf, type Allowance } from './growth.js';
import { Load, NODE_BYTES } from './load.js';
import { heldBy, type Held } from './process.js';

const HOUR = 3600;
const { values } = parseArgs({ options: { seconds: { type: 'string', default: String(HOUR) } } });
const SECONDS = Number(values.seconds);
if (!(SECONDS >= 16)) throw new RangeError('--seconds is 16 at least');
/** In an hour. */
const CGROUPS = 100_000;
/** Until the heap has its size, and V8 has freed the memory of the start. */
const WARM_UP_SECONDS = Math.min(60, SECONDS / 4);
const RELOAD_MS = 5000;
const SCRAPE_MS = 500;

const FIGURES: readonly (readonly [name: string, of: (held: Held) => number, digits: number, allowance: Allowance])[] = [
  // The cap is a quarter of the RSS (docs/benchmarks.md, idle) and five times the allowance: a larger step is a leak.
  ['resident, MiB', (held) => held.residentMib, 1, { upTo: 3, cap: 15, leak: 'steady' }],
  // A workload has three or four, and the growing ones exist only at times.
  ['descriptors', (held) => held.descriptors, 0, { upTo: 12, leak: 'any' }],
  ['threads', (held) => held.threads, 0, { upTo: 0, leak: 'any' }],
  // The node is watched twice, as the parent of workloads and as a slice, and the slice in it exists only at times.
  ['inotify watches', (held) => held.inotifyWatches, 0, { upTo: 1, leak: 'any' }],
];

/** Each differs from the previous one in thresholds, rules and watched pressure. */
function configuration(node: string, reload: number): Record<string, unknown> {
  const pressure = [
    { when: 'cpu.pressure.some>5%', kind: 'soft', for: '200ms' },
    { when: 'memory.pressure.some>1% & memory.available<10%', kind: 'hard' },
    { when: 'io.pressure.some.avg10>50%', kind: 'soft', for: '1s' },
  ];
  return {
    node: { cgroup: node },
    workloads: [{ cgroup: node }, { systemd: { slices: [node.slice(1)] } }],
    rules: [
      { match: { name: 'w*' }, priority: reload % 3, requests: { memory: '16Mi' } },
      { match: { name: 'cache' }, critical: true },
    ],
    evictionHard: {
      'memory.available': `${String(400 + 10 * (reload % 4))}Mi`,
      'nodefs.available': '0%',
      'nodefs.inodesFree': String(1 + (reload % 2)),
    },
    evictionSoft: reload % 2 === 0 ? {} : { 'memory.available': '445Mi', 'pid.available': '5' },
    evictionSoftGracePeriod: reload % 2 === 0 ? {} : { 'memory.available': '10s', 'pid.available': '1s' },
    thresholds: pressure.slice(0, reload % (pressure.length + 1)),
    evictionPressureTransitionPeriod: '1s',
    evictionBudget: { max: 100, window: '1m' }, // a workload takes too much every few seconds
  };
}

const cleanups: (() => unknown)[] = [];
async function cleanUp(): Promise<void> {
  for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop()) await cleanup();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void cleanUp().finally(() => process.exit(130)));

async function soak(): Promise<boolean> {
  const node = testCgroup(`evictdtest${String(process.pid)}.slice`);
  cleanups.push(() => node.cleanup());
  node.limit(NODE_BYTES);
  const failures: unknown[] = [];
  const load = new Load(node);
  const evictd = await RunningEvictd.start({ cleanup: (undo) => void cleanups.push(undo) }, configuration(node.path, 0));
  cleanups.push(() => load.stop());
  await load.start((error) => failures.push(error));

  let [reloads, scrapes, scraped] = [0, 0, ''];
  const timers = [
    setInterval(() => {
      evictd.reload(configuration(node.path, ++reloads));
    }, RELOAD_MS),
    setInterval(() => {
      evictd.scrape().then(
        (text) => ([scrapes, scraped] = [scrapes + 1, text]),
        (error: unknown) => evictd.running && failures.push(error),
      );
    }, SCRAPE_MS),
  ];
  cleanups.push(() => {
    timers.forEach(clearInterval);
  });

  process.stdout.write(`${machine()}\n${String(SECONDS)} s, the first ${WARM_UP_SECONDS.toFixed(0)} of them to warm up …\n`);
  await pause(WARM_UP_SECONDS * 1000);
  const samples: Held[] = [];
  const [from, until] = [performance.now(), performance.now() + (SECONDS - WARM_UP_SECONDS) * 1000];
  for (let second = 1; performance.now() < until && evictd.running && failures.length === 0; second++) {
    const held = heldBy(evictd.pid);
    samples.push(held);
    if (second % 60 === 0) {
      const { residentMib, anonymousMib, descriptors, threads, inotifyWatches } = held;
      const memory = `${residentMib.toFixed(1)} MiB, ${anonymousMib.toFixed(1)} of it anonymous`;
      process.stdout.write(
        `  minute ${String(second / 60)}: ${memory}, ${String(descriptors)} descriptors, ${String(threads)} threads, ${String(inotifyWatches)} inotify watches\n`,
      );
    }
    await pause(Math.max(0, from + second * 1000 - performance.now()));
  }
  if (!evictd.running) failures.push(`evictd has ended: ${evictd.lastLine}`);

  const results = FIGURES.map(([name, of, digits, allowance]) => ({ name, digits, allowance, ...growthOf(samples.map(of), allowance) }));
  for (const { name, digits, allowance, quarters, highest, growth, leaks } of results) {
    const medians = quarters.map((value) => value.toFixed(digits)).join(' ');
    process.stdout.write(
      `${name}: medians of the quarters ${medians}, highest ${highest.toFixed(digits)}, growth ${growth.toFixed(digits)} (allowed: ${String(allowance.upTo)})${leaks ? ' – LEAKS' : ''}\n`,
    );
  }
  const metric = (name: string): number =>
    scraped.split('\n').reduce((sum, line) => (line.startsWith(name) ? sum + Number(line.slice(line.lastIndexOf(' '))) : sum), 0);
  const evictions = metric('evictd_evictions_total{');
  const { workloads, hogs, hogsEvicted, bursts, cgroups } = load.counts;
  process.stdout.write(
    `${String(samples.length)} samples; ${String(workloads)} workloads came, ${String(cgroups)} cgroups and slices beside them, ${String(hogs)} took too much, ${String(hogsEvicted)} ended; ${String(evictions)} evictions, ` +
      `${String(metric('evictd_evictions_failed_total{'))} failed; ${String(reloads)} reloads, ${String(scrapes)} scrapes, ${String(bursts)} bursts of pressure, ${String(metric('evictd_alerts_total{'))} alerts\n`,
  );
  if (SECONDS >= HOUR && cgroups < CGROUPS) failures.push(`only ${String(cgroups)} cgroups came and went`);
  if (evictions === 0) failures.push('no workload was evicted');
  for (const failure of failures)
    process.stdout.write(`${failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)}\n`);
  return failures.length === 0 && results.every(({ leaks }) => !leaks);
}

try {
  const passed = await soak();
  process.stdout.write(passed ? 'nothing grows\n' : 'FAILED\n');
  process.exitCode = passed ? 0 : 1;
} finally {
  await cleanUp();
}
