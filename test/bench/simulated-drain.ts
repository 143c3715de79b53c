import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatedCluster } from '../support/cluster/generated-cluster.js';
import { atMost, type Bench, type Figure } from './benchmark.js';
import { EVICTD } from './evictd.js';

const SIZES = [500, 1_000, 5_000] as const;
/** Their pods are about 500. */
const DRAINED = 20;

/** `evictd simulate` as a whole: reads a dump, and drains nodes with about 500 pods. */
export async function simulatedDrains(bench: Bench): Promise<readonly Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-bench-'));
  bench.cleanup(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const figures: Figure[] = [];
  for (const nodes of SIZES) {
    const dump = join(directory, `${String(nodes)}.json`);
    write(dump, nodes);
    const drains = Array.from({ length: DRAINED }, (_item, index) => ['--drain', `node-${String(20 + index)}`]).flat();
    const [read, drained] = [await measured([dump]), await measured([dump, ...drains])];
    const size = `${nodes.toLocaleString('en')} nodes`;
    const isLargest = nodes === SIZES.at(-1);
    figures.push(
      { what: `evictd simulate reads a dump of ${size}`, unit: 's', measured: read.seconds, ...(isLargest && atMost(30)) },
      { what: `… and drains about 500 pods there`, unit: 's', measured: drained.seconds - read.seconds, ...(isLargest && atMost(10)) },
      { what: '… resident at most', unit: 'MiB', measured: drained.peakMib, ...(isLargest && atMost(4_096)) },
    );
  }
  return figures;
}

function write(path: string, nodes: number): void {
  const file = openSync(path, 'w');
  let before = '{"apiVersion":"v1","items":[\n';
  for (const object of generatedCluster({ seed: 1, nodes })) {
    writeSync(file, before + JSON.stringify(object, undefined, 4));
    before = ',\n';
  }
  writeSync(file, '],"kind":"List"}\n');
  closeSync(file);
}

/** GNU time has the peak of what has ended. */
async function measured(args: readonly string[]): Promise<{ readonly seconds: number; readonly peakMib: number }> {
  const from = performance.now();
  const child = spawn('time', ['--format=%M', process.execPath, EVICTD, 'simulate', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`evictd simulate: exit ${String(code)}: ${errors}`);
  return { seconds: (performance.now() - from) / 1_000, peakMib: Number(errors.trim().split('\n').at(-1)) / 1_024 };
}
