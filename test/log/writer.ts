// Fills its standard error with log lines, then says on standard output what became of them; after a line on standard
// input it logs twice more. Run by log.test.ts: node --import tsx writer.ts COUNT [patient]; patient: it waits for its
// reader before more stands there than the log keeps.
import { writeSync } from 'node:fs';
import { createLog } from '../../src/log/log.js';

const log = createLog({ format: 'systemd', level: 'info', isTTY: false, env: {} });
const count = Number(process.argv[2]);
const patient = process.argv[3] === 'patient';
/** The test fails before that. */
const FOR_EVER_MS = 600_000;

// Some lines per turn of the event loop: the loop has to turn for this to end.
for (let line = 0; line < count; line++) {
  log.info(`line ${String(line)} ${'x'.repeat(90)}`);
  if (line % 100 === 0) await new Promise(setImmediate);
  if (line % 1000 === 0 && patient) await log.flush(FOR_EVER_MS);
}
await log.flush(patient ? FOR_EVER_MS : 100);
writeSync(1, `${JSON.stringify({ dropped: log.dropped })}\n`);
process.stdin.once('data', () => {
  log.info('one more');
  log.info('the last line');
  void log.flush(FOR_EVER_MS).then(() => process.exit(0));
});
process.stdin.once('end', () => process.exit(0));
