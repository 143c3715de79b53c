import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { eventually } from '../support/eventually.js';
import { kill } from '../support/kill.js';
import { property, systemd } from '../support/systemd.js';

export const SERVICE = 'evictd.service';
export const CONFIG = '/etc/evictd/config.yaml';
export const JOURNAL = '/var/lib/evictd/journal.jsonl';

/** Runs a command and returns its output. */
export function run(program: string, ...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** The built `evictd`. */
export const evictd = (...args: readonly string[]): ReturnType<typeof run> => run(process.execPath, '/project/dist/evictd.js', ...args);

/** Writes the configuration of the service (JSON is YAML), with disk thresholds disabled. */
export function configure(config: Readonly<Record<string, unknown>>): void {
  const { evictionHard, ...rest } = config as { evictionHard?: object };
  const whole = {
    evictionHard: { 'memory.available': '10Mi', 'nodefs.available': '0%', 'nodefs.inodesFree': '0%', ...evictionHard },
    ...rest,
  };
  mkdirSync(dirname(CONFIG), { recursive: true });
  writeFileSync(CONFIG, JSON.stringify(whole), { mode: 0o644 });
}

export const mainPid = (): number => Number(property(SERVICE, 'MainPID'));
export const state = (): string => `${property(SERVICE, 'ActiveState')}/${property(SERVICE, 'SubState')}`;

/** Log lines of the service, and of systemd about it, since then. */
export function logged(since: Date): string {
  return systemd('journalctl', '--unit', SERVICE, '--no-pager', '--output=cat', `--since=@${String(since.getTime() / 1000)}`);
}

/** Journal records of one type; an incomplete last line is skipped. */
export function records(type: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = readFileSync(JOURNAL, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((record) => record.type === type);
}

/** Kills the service so that nothing is restored: the next start fails because of the configuration. */
export async function killedForGood(): Promise<void> {
  writeFileSync(CONFIG, 'evictionHard: nonsense\n');
  kill(mainPid(), 'SIGKILL');
  await eventually('the restarted service has failed', () => state() === 'failed/failed');
}

/** Waits for /readyz: an active service may not listen yet. */
export async function answers(): Promise<void> {
  await eventually(
    'the service is ready',
    async () => (await fetch('http://127.0.0.1:9796/readyz').catch(() => undefined))?.status === 200,
  );
}

export async function metric(series: string): Promise<number> {
  const text = await (await fetch('http://127.0.0.1:9796/metrics')).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  if (line === undefined) throw new Error(`${series} is not there:\n${text}`);
  return Number(line.slice(series.length + 1));
}

/** Writes a drop-in of the service and reloads systemd; `undefined` removes it. */
export function dropIn(text: string | undefined): void {
  const file = `/run/systemd/system/${SERVICE}.d/test.conf`;
  if (text === undefined) rmSync(dirname(file), { recursive: true, force: true });
  else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  systemd('systemctl', 'daemon-reload');
}

/** Files in system directories and units whose names contain evictd, without those of tests. */
export function traces(): string[] {
  const files = systemd(
    'find',
    '/etc',
    '/run',
    '/usr',
    '/var/lib',
    '-xdev',
    '-name',
    '*evictd*',
    '-not',
    '-path',
    '/run/systemd/propagate/*',
  );
  const units = systemd('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'evictd*').split('\n');
  return [...files.split('\n'), ...units.map((line) => line.split(' ')[0] ?? '')]
    .filter((trace) => trace !== '' && !/evictd-?test/.test(trace))
    .sort();
}
