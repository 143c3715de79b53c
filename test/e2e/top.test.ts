import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Evictd, EVICTD, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { until } from './wait.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

// What a person sees of `evictd top`, in a terminal of tmux.

/** A shell in a terminal of its own. */
class Screen {
  readonly #directory = scratchDirectory();

  constructor(columns: number, rows: number, environment: Readonly<Record<string, string>> = {}) {
    const shell = 'exec env -u NO_COLOR -u FORCE_COLOR -u LC_ALL LANG=C.UTF-8 "PS1=ready> " bash --norc --noprofile';
    const variables = Object.entries(environment).map(([name, value]) => `export ${name}=${value}; `);
    this.#tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), `${shell} -i`);
    onTestFinished(() => this.#kill());
    this.type(`${variables.join('')}clear`);
  }

  type(line: string): void {
    this.#tmux('send-keys', '-l', line);
    this.keys('Enter');
  }

  keys(...names: readonly string[]): void {
    this.#tmux('send-keys', ...names);
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** Its lines. `coloured`: with the codes of colours. */
  lines(coloured?: 'coloured'): string[] {
    return this.#tmux('capture-pane', '-p', '-N', ...(coloured ? ['-e'] : []))
      .slice(0, -1)
      .split('\n')
      .map((line) => line.trimEnd());
  }

  text(): string {
    return this.lines().join('\n');
  }

  async shows(what: RegExp): Promise<void> {
    await until(
      `the screen shows ${String(what)}`,
      () => what.test(this.text()),
      () => this.text(),
    );
  }

  /** Alternate screen, cursor, line wrap, title. */
  modes(): string {
    return this.#tmux('display-message', '-p', '#{alternate_on} #{cursor_flag} #{wrap_flag} #{pane_title}').trim();
  }

  /** The process that runs in the terminal's foreground, a child of the shell. */
  foreground(): number {
    const shell = this.#tmux('display-message', '-p', '#{pane_pid}').trim();
    const [pid] = execFileSync('pgrep', ['-P', shell], { encoding: 'utf8' }).split('\n');
    return Number(pid);
  }

  /** The shell has the terminal as it was. */
  async isRestored(before: string): Promise<void> {
    await this.shows(/ready>/);
    await until(
      'the modes are restored',
      () => this.modes() === before,
      () => this.modes(),
    );
    this.type('stty -a | grep -o " icanon\\| echo\\b" | tr "\\n" ,; echo restored');
    await this.shows(/^ icanon, echo,restored$/m);
  }

  #kill(): void {
    try {
      this.#tmux('kill-server');
    } catch {
      // its shell has ended
    }
    rmSync(this.#directory, { recursive: true });
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-S', join(this.#directory, 'tmux'), '-f', '/dev/null', ...args], { encoding: 'utf8' });
  }
}

const HOSTILE = 'x\u001b[2J\u001b]0;hacked\u0007\u001b[31m';

async function node() {
  const cgroup = testNode();
  await workload(cgroup.child('web'), { holdsMib: 30 });
  await workload(cgroup.child(HOSTILE), { holdsMib: 10 });
  const batch = await workload(cgroup.child('batch'), { growsMib: 140, onTerm: 'ignore' });
  const config = {
    ...guarding(cgroup, [{ match: { name: 'web' }, critical: true }]),
    evictionHard: { 'memory.available': '8Mi' },
    evictionSoft: { 'memory.available': '384Mi' },
    evictionSoftGracePeriod: { 'memory.available': '100ms' },
    evictionMaxPodGracePeriod: 120,
    monitoringInterval: '200ms',
  };
  return { batch, config, path: cgroup.path };
}

const command = (configFile: string, interval = '200ms'): string =>
  `${process.execPath} ${EVICTD} top --interval ${interval} --config ${configFile}`;

test.each([
  [80, 24],
  [200, 50],
])(`top on %i×%i shows each page, the keys, another size, and names that would control the terminal (${ON})`, async (columns, rows) => {
  const { config, path } = await node();
  const evictd = await new Evictd({ config }).guarding();
  const screen = new Screen(columns, rows);
  await screen.shows(/^ready>/);
  const before = screen.modes();
  screen.type(command(evictd.configFile, '1h')); // only keys and sizes draw again

  await screen.shows(/^\[1 overview\] 2 signals .* q quit/m);
  expect(screen.lines()).toHaveLength(rows);
  expect(screen.text()).toContain(`guards ${path}, process ${String(evictd.pid)} since `);
  expect(screen.text()).toMatch(/^memory\.available +\S+MiB +512MiB +384MiB soft +\S+MiB/m);
  expect(screen.text()).toMatch(/^- +web +0 +3[\d.]+MiB +- .*critical$/m);
  expect(screen.text()).toMatch(/^1 +x\\x1b\[2J\\x1b\]0;h\S* +0 +1[\d.]+MiB/m);
  expect(screen.modes()).toBe(before.replace('0 1 1', '1 0 0')); // the title, too, is what it was
  screen.keys('2');
  await screen.shows(/^memory\.available<384Mi +soft +0s +\S+MiB left/m);
  screen.keys('Right', 's');
  await screen.shows(/\[3 workloads\]/);
  await screen.shows(/order of eviction for memory\.available, by usage, 3 in all/);
  expect(screen.text()).toMatch(/ web .*\n.* x\\x1b.*\n.* batch /);
  screen.keys('n');
  await screen.shows(/order of eviction for nodefs\.available, by usage/);
  screen.keys('4');
  await screen.shows(/ evictd \S+ starts$/m);
  screen.keys('5');
  await screen.shows(/^sampler +memory\.available +live /m);
  screen.keys('?');
  await screen.shows(/^q, Ctrl-C +end$/m);

  for (const height of [rows + 6, 18]) {
    screen.resize(columns + 10, height);
    const fits = (lines: readonly string[]) => lines[0] === 'evictd top' && lines[height - 1]?.startsWith('1 overview ') === true;
    await until(
      'the first and the last line are at their places',
      () => fits(screen.lines()),
      () => screen.text(),
    );
  }
  screen.keys('End');
  await screen.shows(/^BEFORE: the last values/m);
  screen.keys('q');
  await screen.isRestored(before);
});

test(`top shows an eviction in flight, and an evictd that hangs, ends and starts again (${ON})`, async () => {
  const { config, batch } = await node();
  const directory = scratchDirectory();
  const evictd = await new Evictd({ config, directory }).guarding();
  const screen = new Screen(100, 30);
  screen.type(command(evictd.configFile));
  await screen.shows(/\[1 overview\]/);
  batch.grow();
  await screen.shows(/^eviction 1 of batch: terminating for \d+s, SIGKILL in 1m\d+s; uses 1\d\dMiB$/m);
  await screen.shows(/^conditions: MemoryPressure$/m);
  await screen.shows(/^\S+ {2}evicting batch with SIGTERM, SIGKILL after 2m0s: memory\.available /m);
  screen.keys('4');
  await screen.shows(/^ {2}\/\S+\/batch, processes: 1$/m);

  evictd.child.kill('SIGSTOP');
  await screen.shows(/^EVICTD_CONTROL_UNANSWERED: evictd does not answer on /m);
  evictd.child.kill('SIGCONT');
  await until('it answers again', () => !screen.text().includes('UNANSWERED'));
  evictd.child.kill('SIGKILL');
  await screen.shows(/^evictd ended before \d\d:/m);
  screen.keys('1');
  await screen.shows(/^no evictd guards this node /m);
  await screen.shows(/ batch +0 +1\d\dMiB/);
  const next = await new Evictd({ config, directory }).guarding();
  await screen.shows(/^evictd started again before \d\d:/m);
  await screen.shows(new RegExp(`^evictd \\S+ guards .*, process ${String(next.pid)} since `, 'm'));
});

test('the terminal is restored, whatever ends or stops top', async () => {
  const { config } = await node();
  const directory = temporaryDirectory('/dev/shm');
  const { configFile } = await new Evictd({ config, directory }).guarding();
  const screen = new Screen(80, 24);
  await screen.shows(/^ready>/);
  const before = screen.modes();
  const signal = (name: NodeJS.Signals) => (): void => void process.kill(screen.foreground(), name);
  const ends: readonly (readonly [name: string, () => void])[] = [
    ['q', () => screen.keys('q')],
    ['Ctrl-C', () => screen.keys('C-c')],
    ...(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const).map((name) => [name, signal(name)] as const),
  ];
  for (const [, end] of ends) {
    screen.type(`clear; ${command(configFile)}`);
    await screen.shows(/\[1 overview\]/);
    end();
    await screen.isRestored(before);
  }
  for (const stop of [() => screen.keys('C-z'), signal('SIGTSTP')]) {
    screen.type(`clear; ${command(configFile)}`);
    await screen.shows(/\[1 overview\]/);
    stop();
    await screen.shows(/Stopped/);
    await screen.isRestored(before);
    screen.type('fg');
    await screen.shows(/\[1 overview\]/);
    screen.keys('2');
    await screen.shows(/\[2 signals\]/);
    screen.keys('q');
    await screen.isRestored(before);
  }
  // bash itself restores modes after SIGSTOP, but neither screen nor cursor: what goes on draws again.
  screen.type(`clear; ${command(configFile)}`);
  await screen.shows(/\[1 overview\]/);
  signal('SIGSTOP')();
  await screen.shows(/Stopped/);
  screen.type('fg');
  await screen.shows(/\[1 overview\]/);
  screen.keys('q');
  await screen.isRestored(before);
});

test('Ctrl-Z does not stop top without a shell that could continue it', async () => {
  const { config } = await node();
  const { configFile } = await new Evictd({ config }).guarding();
  const screen = new Screen(80, 24);
  screen.type(`exec ${command(configFile)}`);
  await screen.shows(/\[1 overview\]/);
  screen.keys('C-z', '2');
  await screen.shows(/\[2 signals\]/);
});

test.each([
  ['1', false],
  ['', true],
])('with NO_COLOR=%j top has colours: %s', async (value, coloured) => {
  const { config } = await node();
  const { configFile } = await new Evictd({ config }).guarding();
  const screen = new Screen(80, 24, { NO_COLOR: value });
  screen.type(command(configFile));
  await screen.shows(/\[1 overview\]/);
  expect(screen.lines('coloured').some((line) => line.includes('\u001b['))).toBe(coloured);
});

test.each([
  ['without a terminal', '< /dev/null'],
  ['with output to a file', '> /dev/null'],
  ['on a terminal that cannot move its cursor', ''],
])('top does not start %s', async (_rule, redirection) => {
  const screen = new Screen(80, 24, redirection === '' ? { TERM: 'dumb' } : {});
  screen.type(`${command('/dev/null')} ${redirection}`);
  await screen.shows(/^evictd: EVICTD_TOP_TERMINAL: evictd top needs a terminal$/m);
});
