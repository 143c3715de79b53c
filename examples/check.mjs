// Compares this machine with evictd's thresholds once, as `evictd check` does: the signals, and the exit code.
//
//   node check.mjs [CONFIGURATION]
import { check, loadConfig } from 'evictd';

const { status, exit, signals, problems } = await check(await loadConfig({ file: process.argv[2] }));

for (const { signal, observation, reason } of signals) {
  console.log(observation ? `${signal}: ${observation.available} of ${observation.capacity}` : `${signal}: ${reason}`);
}
for (const { code, message } of problems) console.log(`${code}: ${message}`);
console.log(status);
process.exitCode = exit;
