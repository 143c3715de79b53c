import { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Inhibitor } from '../../../../src/host/linux/systemd/inhibitor.js';
import { LoginShutdownDelay } from '../../../../src/host/linux/systemd/shutdown-delay.js';

// Run by shutdown-delay.test.ts: sh -c 'ulimit -n 64; exec node --import tsx starved-shutdown-delay.ts BUS PROGRAM'.
// There are no descriptors left when it asks for the lock, until it has said so; nor for one that is closed at once.
// Prints each change that it gets.

const [path = '', program = ''] = process.argv.slice(2);
const taken: number[] = [];
let isShort = true;

function takeAll(): void {
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    // EMFILE
  }
}

function giveBack(): void {
  for (const fd of taken.splice(0)) closeSync(fd);
}

// Where no process was made, Node's handle has a pid that was never written: a signal would reach any process.
const kill: (this: ChildProcess, signal?: number | NodeJS.Signals) => boolean = Reflect.get(ChildProcess.prototype, 'kill');
ChildProcess.prototype.kill = function (signal) {
  if (this.pid !== undefined) return kill.call(this, signal);
  process.stdout.write('signals a pid that was never written\n');
  return false;
};

takeAll();
const unheard = (): void => undefined;
new Inhibitor([program], { taken: unheard, ended: unheard }).close();
giveBack();

const delay = new LoginShutdownDelay(path, () => {
  if (isShort) takeAll();
  return [program];
});
delay.start({
  prepare: () => undefined,
  changed: (state) => {
    isShort = false;
    giveBack();
    process.stdout.write(`${state.kind === 'off' ? `off: ${state.reason}` : state.kind}\n`);
  },
});
process.stdin.once('close', () => {
  delay.close();
});
process.stdin.resume();
