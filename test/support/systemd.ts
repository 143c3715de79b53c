import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whether this is a machine of `make vm` with systemd. Tests that install a service, create units or fill the memory
 * run only there.
 */
export const hasSystemd =
  process.env.EVICTD_VM_SUITE !== undefined &&
  existsSync('/run/systemd/system') &&
  readFileSync('/proc/1/comm', 'utf8').trim() === 'systemd';

const UNITS = '/run/systemd/system';
const MAX_STOPS = 5;

/** The trimmed output of `systemctl` or another tool. Throws with all its output if it fails. */
export function systemd(tool: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(tool, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${tool} ${args.join(' ')}: ${String(status)} ${stdout}${stderr}`);
  return stdout.trim();
}

/** One property, as printed by `systemctl show`. */
export function property(unit: string, name: string): string {
  return systemd('systemctl', 'show', '--value', `--property=${name}`, unit);
}

/** The sections of a unit file. */
export type UnitSections = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/**
 * Unit files of a test in /run. Every name begins with 'evictd-test-', except slices, whose names are paths
 * ('evictdtest.slice', 'evictdtest-batch.slice'), and `others`. `remove` stops and removes all of them.
 */
export class TestUnits {
  readonly #names = new Set<string>();
  readonly #others: RegExp;

  constructor(others = /$^/) {
    this.#others = others;
  }

  /** Writes a unit file and reloads systemd, without a start: {Service: {ExecStart: '…', MemoryMax: '100M'}}. */
  write(name: string, sections: UnitSections): string {
    this.writeAll({ [name]: sections });
    return name;
  }

  /** Several with one daemon-reload, which takes seconds on an emulated machine. */
  writeAll(units: Readonly<Record<string, UnitSections>>): void {
    for (const [name, sections] of Object.entries(units)) this.#write(name, sections);
    systemd('systemctl', 'daemon-reload');
  }

  #write(name: string, sections: UnitSections): void {
    if (!/^evictd-test-|^evictdtest[-.]/.test(name) && !this.#others.test(name))
      throw new Error(`${name}: a test makes evictd-test-* only`);
    const text = Object.entries(sections).map(
      ([section, settings]) =>
        `[${section}]\n` +
        Object.entries(settings)
          .flatMap(([key, values]) => [values].flat().map((value) => `${key}=${value}\n`))
          .join(''),
    );
    mkdirSync(UNITS, { recursive: true });
    writeFileSync(join(UNITS, name), text.join('\n'));
    this.#names.add(name);
  }

  start(...names: readonly string[]): void {
    try {
      systemd('systemctl', 'start', ...names);
    } catch (error) {
      throw new Error(`${String(error)}\n${systemd('journalctl', '--lines=20', '--no-pager', '--output=cat')}`, { cause: error });
    }
  }

  stop(...names: readonly string[]): void {
    systemd('systemctl', 'stop', ...names);
  }

  remove(): void {
    const names = [...this.#names];
    if (names.length === 0) return;
    const meant = names.map((name) => name.replace('@.', '@*.')); // instances of a template
    spawnSync('systemctl', ['kill', '--signal=SIGKILL', ...meant]);
    // A pending start may follow the first stop: a socket does not start while its service runs.
    for (let tries = 0; tries < MAX_STOPS; tries++) {
      spawnSync('systemctl', ['stop', ...meant]);
      if (!anyActive(meant)) break;
    }
    spawnSync('systemctl', ['reset-failed', ...meant]);
    for (const name of names) {
      rmSync(join(UNITS, name), { force: true });
      rmSync(join(UNITS, `${name}.d`), { recursive: true, force: true });
    }
    this.#names.clear();
    systemd('systemctl', 'daemon-reload');
    if (anyActive(meant)) throw new Error(`one of ${names.join(', ')} was started again`);
  }
}

function anyActive(units: readonly string[]): boolean {
  const { stdout } = spawnSync('systemctl', ['is-active', ...units], { encoding: 'utf8' });
  return stdout.split('\n').some((state) => !['', 'inactive', 'failed'].includes(state));
}
