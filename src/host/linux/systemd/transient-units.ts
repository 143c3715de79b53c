import { existsSync } from 'node:fs';
import type { LimitedCommand } from '../../../core/systemd/limited-command.js';
import type { CommandRunner } from '../../../monitor/ports/ports.js';
import { type BusAddress, type BusReply, MANAGER, PROPERTIES, SYSTEMD } from './bus-connection.js';
import { BusLink, SYSTEMD_ADDRESSES } from './bus-link.js';
import { unitPath } from './units/unit-reading.js';
import { NS_PER_US, NS_PER_MS } from '../../../core/quantity/duration.js';

const LOOK_MS = 200;
/** The extra time to reach systemd, to start, and to stop after the timeout. */
const BESIDES_MS = 15_000;
const STOPPING_US = 5_000_000n;
const MAX_TASKS = 64n;

/** Whether systemd is the init. */
export function hasSystemd(): boolean {
  return existsSync('/run/systemd/system');
}

/** Runs commands as transient units, where systemd is the init. */
export function openCommandRunner(addresses: readonly BusAddress[] = SYSTEMD_ADDRESSES): CommandRunner {
  if (hasSystemd()) return new TransientUnits(addresses);
  return { run: () => Promise.resolve('systemd, which would run it outside the sandbox of evictd, is not the init of this machine') };
}

class TransientUnits implements CommandRunner {
  readonly #addresses: readonly BusAddress[];
  #started = 0;

  constructor(addresses: readonly BusAddress[]) {
    this.#addresses = addresses;
  }

  run(command: LimitedCommand): Promise<string | undefined> {
    this.#started += 1;
    // A unit that an earlier evictd left has another name.
    const unit = `evictd-${command.purpose}-${command.name}-${String(process.pid)}-${String(this.#started)}.service`;
    return new Promise((resolve) => {
      new TransientRun(this.#addresses, unit, command, resolve);
    });
  }
}

class TransientRun {
  readonly #unit: string;
  readonly #link: BusLink;
  readonly #done: (error: string | undefined) => void;
  readonly #deadline: NodeJS.Timeout;
  #look: NodeJS.Timeout | undefined;
  #isStarted = false;
  #isOver = false;

  constructor(addresses: readonly BusAddress[], unit: string, command: LimitedCommand, done: (error: string | undefined) => void) {
    this.#unit = unit;
    this.#done = done;
    this.#deadline = setTimeout(
      () => {
        this.#end(this.#link.lastError ?? `systemd has not reported the result of ${unit}`);
      },
      Number(command.timeoutNs / NS_PER_MS) + BESIDES_MS,
    );
    this.#deadline.unref();
    this.#link = new BusLink(addresses, ['JobRemoved'], {
      up: () => {
        // On the bus systemd sends signals only after Subscribe; on its own socket always.
        this.#link.call({ ...MANAGER, member: 'Subscribe' }, () => undefined);
        if (this.#isStarted) this.#lookAgain();
        else this.#start(command);
      },
      signal: () => {
        this.#lookAgain(0);
      },
    });
  }

  #start(command: LimitedCommand): void {
    this.#isStarted = true;
    const body = [this.#unit, 'fail', propertiesOf(command), []];
    this.#call('StartTransientUnit', 'ssa(sv)a(sa(sv))', body, (reply) => {
      if (reply.ok || reply.name === undefined) this.#lookAgain();
      else this.#end(reply.message);
    });
  }

  /** A job has ended, or systemd has not reported one for a while. */
  #lookAgain(afterMs = LOOK_MS): void {
    if (this.#isOver || !this.#isStarted) return;
    clearTimeout(this.#look);
    this.#look = setTimeout(() => {
      this.#call('ListUnitsByNames', 'as', [[this.#unit]], (reply) => {
        if (reply.ok) this.#judge(reply.body);
        else if (reply.name !== undefined) this.#end(reply.message);
      });
    }, afterMs);
    this.#look.unref();
  }

  /**
   * 'a(ssssssouso)': name, description, load state, active state, sub state, followed, object, job, kind of job, object
   * of the job.
   */
  #judge([units]: readonly unknown[]): void {
    const [found] = Array.isArray(units) ? (units as readonly unknown[]) : [];
    const [, , , active, , , , job] = Array.isArray(found) ? (found as readonly unknown[]) : [];
    if (active === 'failed') this.#whyFailed();
    else if (active === 'inactive' && Number(job) === 0) this.#end(undefined);
    else this.#lookAgain();
  }

  #whyFailed(): void {
    const call = { path: unitPath(this.#unit), interface: PROPERTIES, destination: SYSTEMD, member: 'Get' };
    this.#link.call({ ...call, signature: 'ss', body: [`${SYSTEMD}.Service`, 'Result'] }, (reply) => {
      const result = reply.ok ? String(reply.body[0]) : 'failed';
      // Otherwise it stays among the failed units.
      this.#call('ResetFailedUnit', 's', [this.#unit], () => {
        this.#end(`it failed (${result}): journalctl -u ${this.#unit}`);
      });
    });
  }

  #call(member: string, signature: string, body: readonly unknown[], done: (reply: BusReply) => void): void {
    this.#link.call({ ...MANAGER, member, signature, body }, (reply) => {
      if (!this.#isOver) done(reply);
    });
  }

  #end(error: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#look);
    this.#link.close();
    this.#done(error);
  }
}

/** A oneshot service: its start ends with its program, so the start timeout limits it. */
function propertiesOf({ argv, environment = {}, uid, timeoutNs, memoryMaxBytes, purpose, name }: LimitedCommand): readonly unknown[] {
  const [program] = argv;
  // systemd would replace variables in the arguments.
  const words = argv.map((word) => word.replaceAll('$', '$$$$'));
  const own = Object.entries(environment).map(([variable, value]) => `${variable}=${value}`);
  return [
    ['Description', ['s', `evictd ${purpose}: ${name}`]],
    ['Type', ['s', 'oneshot']],
    ['ExecStart', ['a(sasb)', [[program, words, false]]]],
    ['Environment', ['as', ['LC_ALL=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive', ...own]]],
    ['TimeoutStartUSec', ['t', timeoutNs / NS_PER_US]],
    ['TimeoutStopUSec', ['t', STOPPING_US]],
    ['MemoryMax', ['t', memoryMaxBytes]],
    ['TasksMax', ['t', MAX_TASKS]],
    ['Nice', ['i', 10]],
    ...(uid === undefined ? [] : [['User', ['s', String(uid)]]]),
  ];
}
