// make proof ARGS=properties: all tests with generated inputs, PROPERTY_ROUNDS (30) times, each time from another seed.
// The last line is "N passed, N failed".
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROUNDS = Number(process.env.PROPERTY_ROUNDS ?? 30);
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((file) => join('test', file))
  .filter((file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes("support/property.js'"));

let [passed, failed] = [0, 0];
for (let round = 0; round < ROUNDS; round++) {
  const { stdout, status } = spawnSync('node_modules/.bin/vitest', ['run', ...files], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PROPERTY_SEED: String(randomInt(2 ** 31)) },
  });
  const [, good = '0', bad = '0'] = /^(\d+) passed, (\d+) failed$/m.exec(stdout) ?? [];
  passed += Number(good);
  failed += status === 0 ? 0 : Math.max(Number(bad), 1);
  if (status !== 0) process.stdout.write(stdout);
}
process.stdout.write(`${String(passed)} passed, ${String(failed)} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
