import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { createLog, logForm, type LogOptions } from '../../src/log/log.js';

const LOCAL_TIME = /\d\d:\d\d:\d\d/;

function lines(options: Partial<LogOptions>, write: (log: ReturnType<typeof createLog>) => void): string[] {
  let written = '';
  const sink: LogOptions['sink'] = (chunk, done) => {
    written += chunk.toString();
    done();
  };
  write(createLog({ format: 'auto', level: 'info', isTTY: false, env: {}, sink, ...options }));
  return written.split('\n').slice(0, -1);
}

test.each<[rule: string, options: Pick<LogOptions, 'format' | 'isTTY' | 'env'>, form: string]>([
  ['a terminal gets sentences', { format: 'auto', isTTY: true, env: {} }, 'text'],
  ['a pipe gets sentences', { format: 'auto', isTTY: false, env: {} }, 'text'],
  ['the journal gets priorities', { format: 'auto', isTTY: false, env: { JOURNAL_STREAM: '8:1' } }, 'systemd'],
  ['a terminal that a service started is a terminal', { format: 'auto', isTTY: true, env: { JOURNAL_STREAM: '8:1' } }, 'text'],
  ['the configured format is used', { format: 'json', isTTY: true, env: { JOURNAL_STREAM: '8:1' } }, 'json'],
])('%s', (_rule, options, form) => {
  expect(logForm({ level: 'info', ...options })).toBe(form);
});

test.each<[rule: string, options: Partial<LogOptions>, line: string]>([
  [
    'text on a terminal has the time, a coloured level and the hint',
    { isTTY: true },
    'TIME \u001b[33mwarning: port in use (choose another) [EVICTD_X]\u001b[0m',
  ],
  ['NO_COLOR', { isTTY: true, env: { NO_COLOR: '1' } }, 'TIME warning: port in use (choose another) [EVICTD_X]'],
  [
    'an empty NO_COLOR means nothing',
    { isTTY: true, env: { NO_COLOR: '' } },
    'TIME \u001b[33mwarning: port in use (choose another) [EVICTD_X]\u001b[0m',
  ],
  ['text in a file has the date and no colour', { format: 'text' }, 'DATE TIME warning: port in use (choose another) [EVICTD_X]'],
  ['under systemd: a priority, every field', { format: 'systemd' }, '<4>port in use bytes=5 hint="choose another" code=EVICTD_X'],
])('%s', (_rule, options, line) => {
  const [written] = lines(options, (log) => log.warn('port in use', { bytes: 5n, hint: 'choose another', code: 'EVICTD_X' }));
  expect(written?.replace(/^\d{4}-\d\d-\d\d /, 'DATE ').replace(LOCAL_TIME, 'TIME')).toBe(line);
});

test('a log line names the processes of a victim', () => {
  const [written = ''] = lines({ format: 'text' }, (log) => log.warn('evicting db', { processes: 'postgres (pid 7)', victim: '/db' }));
  expect(written).toMatch(/ warning: evicting db; postgres \(pid 7\)$/);
});

test('fields in the journal are short pairs without JSON', () => {
  const fields = {
    spansMs: { exit: 2.5, deeper: { a: 1 } },
    list: ['a', 'b c'],
    rows: [{ n: 1 }, { n: 2 }],
    none: [],
    empty: {},
    missing: null,
  };
  const [written] = lines({ format: 'systemd' }, (log) => log.info('evicted', fields));
  expect(written).toBe('<6>evicted spansMs.exit=2.5 spansMs.deeper.a=1 list="a,b c" rows.0.n=1 rows.1.n=2 none="" missing=null');
});

test('each level has its syslog priority', () => {
  const written = lines({ format: 'systemd', level: 'debug' }, (log) => {
    log.error('a');
    log.warn('b');
    log.info('c');
    log.debug('d');
  });
  expect(written).toEqual(['<3>a', '<4>b', '<6>c', '<7>d']);
});

test('a level below the configured one is not written', () => {
  expect(lines({ format: 'systemd', level: 'warn' }, (log) => log.info('c'))).toEqual([]);
});

test('a JSON line has time, level and message, with the fields beside them, and none twice', () => {
  const [written = ''] = lines({ format: 'json' }, (log) => log.info('evicted batch', { bytes: 2n ** 60n, level: 9, time: 1, msg: 'x' }));
  expect(written).toMatch(
    /^\{"level":"info","time":"\d{4}-\d\d-\d\dT[\d:.]+Z","bytes":"1152921504606846976","level_":9,"time_":1,"msg_":"x","msg":"evicted batch"\}$/,
  );
});

test('a message is not used as a format string', () => {
  expect(lines({ format: 'systemd' }, (log) => log.info('100%s of %d', { a: 1 }))).toEqual(['<6>100%s of %d a=1']);
});

test.each<LogOptions['format']>(['text', 'systemd', 'json'])(
  '%s: a line is one line without control characters, whatever the values',
  (format) => {
    const hostile = 'a\nb\r\n<0>c\u001b[2J\u0007\u0085\u2028d\u202e\udcff';
    const written = lines({ format, level: 'debug' }, (log) =>
      log.debug(hostile, { hostile, nested: { hostile }, error: new Error(hostile), hint: hostile }),
    );
    expect(written).toHaveLength(1);
    // oxlint-disable-next-line no-control-regex
    expect(format === 'json' ? '' : written[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/);
    expect(written[0]).toContain('\\xff');
    expect(written[0]?.isWellFormed()).toBe(true);
  },
);

describe('a log without a reader', () => {
  const COUNT = 20_000; // 2 MB: more than a pipe, a socket and what waits
  const directories: string[] = [];
  const children: ChildProcess[] = [];
  const fds: number[] = [];

  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const fd of fds.splice(0)) closeSync(fd);
    for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
  });

  function writer(stderr: 'pipe' | number, ...how: readonly 'patient'[]): ChildProcess {
    const script = fileURLToPath(new URL('writer.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', script, String(COUNT), ...how], { stdio: ['pipe', 'pipe', stderr] });
    children.push(child);
    return child;
  }

  /** A pipe that blocks its writers, whose other end is open, and read only through `drain`. */
  function pipe(): { fd: number; drain: () => string } {
    const directory = mkdtempSync(join(tmpdir(), `evictd-test-${String(process.pid)}-`));
    directories.push(directory);
    const path = join(directory, 'pipe');
    execFileSync('mkfifo', ['-m', '600', path]);
    const fd = openSync(path, constants.O_RDWR);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    fds.push(fd, reader);
    const buffer = Buffer.alloc(1 << 20);
    return {
      fd,
      drain: () => {
        try {
          return buffer.toString('utf8', 0, readSync(reader, buffer));
        } catch {
          return ''; // EAGAIN: empty
        }
      },
    };
  }

  async function report(child: ChildProcess): Promise<{ dropped: number }> {
    const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    return JSON.parse(chunk.toString()) as { dropped: number };
  }

  test('blocks neither the event loop nor the exit when its pipe is full', async () => {
    const child = writer(pipe().fd);
    const exited = once(child, 'exit');
    expect((await report(child)).dropped).toBeGreaterThan(10_000);
    child.stdin?.end();
    expect(await exited).toEqual([0, null]);
  });

  test('blocks neither when its socket is full, as for the journal', async () => {
    const child = writer('pipe'); // a socket pair
    const exited = once(child, 'exit');
    expect((await report(child)).dropped).toBeGreaterThan(10_000);
    child.stdin?.end();
    expect(await exited).toEqual([0, null]);
  });

  test('has the oldest lines for a reader that comes back, complete and in order, and the number of lost ones', async () => {
    const { fd, drain } = pipe();
    const child = writer(fd);
    const exited = once(child, 'exit');
    const { dropped } = await report(child);
    let read = drain();
    const finished = exited.then(() => true);
    child.stdin?.write('go\n');
    while (!(await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, 5, false))]))) read += drain();
    read += drain();

    const got = read.split('\n').slice(0, -1);
    const numbered = got.filter((line) => line.startsWith('<6>line '));
    expect(numbered.map((line) => Number(line.split(' ')[1]))).toEqual(numbered.map((_line, index) => index));
    expect(numbered.every((line) => line.endsWith('x'.repeat(90)))).toBe(true);
    expect(numbered).toHaveLength(COUNT - dropped);
    expect(got.slice(numbered.length)).toEqual([
      '<6>one more',
      `<4>${String(dropped)} log lines dropped since the start: the reader was too slow lines=${String(dropped)}`,
      '<6>the last line',
    ]);
  });

  test('counts lines as lost when the reader has closed, and throws nothing', async () => {
    const child = writer('pipe');
    const exited = once(child, 'exit');
    child.stderr?.destroy();
    const { dropped } = await report(child);
    child.stdin?.end();
    expect(dropped).toBeGreaterThan(0);
    expect(await exited).toEqual([0, null]);
  });

  test('has every line for a reader in time', async () => {
    const child = writer('pipe', 'patient');
    const read = text(child.stderr as NodeJS.ReadableStream);
    expect(await report(child)).toEqual({ dropped: 0 });
    child.stdin?.end();
    expect((await read).split('\n')).toHaveLength(COUNT + 1);
  });
});
