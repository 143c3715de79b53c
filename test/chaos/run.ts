// make chaos [ARGS='--seed=N --actions=M --evictions=E --from=N --machine=v2|v1|hybrid']: random actions against evictd on
// this machine, or in a virtual one, and a checker that compares the journal with what the driver and the kernel saw.
// Without --seed it runs one seed after the other, from N on, until there were E (500) evictions. A seed that fails is
// printed; with --seed it is repeated.
import { parseArgs } from 'node:util';
import { chaos, undoAll, type Undo } from './chaos.js';
import { runInMachine } from './in-machine.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    from: { type: 'string' },
    actions: { type: 'string', default: '150' },
    evictions: { type: 'string', default: '500' },
    machine: { type: 'string' },
    out: { type: 'string', default: 'build/chaos' },
  },
});
if (values.machine !== undefined) process.exit(await runInMachine(values.machine, process.argv.slice(2)));

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const undo: Undo = [];
let cleaning: Promise<void> | undefined;
/** Once at a time: the run and a signal may both ask for it. */
const cleanUp = (): Promise<void> => (cleaning ??= undoAll(undo).finally(() => (cleaning = undefined)));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void cleanUp().finally(() => process.exit(130)));
for (const fault of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(fault, (error) => {
    process.stderr.write(`evictd: chaos: ${error instanceof Error ? (error.stack ?? '') : String(error)}\n`);
    void cleanUp().finally(() => process.exit(1));
  });
}

let [evictions, passed, failed] = [0, 0, 0];
const first = Number(values.seed ?? values.from ?? Date.now() % 1_000_000);
for (let seed = first; seed === first || (values.seed === undefined && evictions < Number(values.evictions)); seed++) {
  say(`seed ${seed}, ${values.actions} actions …`);
  const began = performance.now();
  try {
    const verdict = await chaos({ seed, actions: Number(values.actions), out: values.out }, undo);
    evictions += verdict.evictions;
    const excused = Object.entries(verdict.excused).map(([reason, count]) => `${count} (${reason})`);
    const seconds = Math.round((performance.now() - began) / 1000);
    say(
      `  ${verdict.evictions} evictions in ${seconds} s; kills by the kernel that evictd could not prevent: ${excused.join(', ') || 'none'}`,
    );
    for (const violation of verdict.violations) say(violation);
    if (verdict.violations.length === 0) passed++;
    else {
      failed++;
      say(
        `FAILED seed ${seed}; repeat it: make chaos ARGS='--seed=${seed} --actions=${values.actions}'   (logs: ${values.out}/seed-${seed}.*)`,
      );
    }
  } finally {
    await cleanUp();
  }
}
say(`${evictions} evictions`);
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
