import { setTimeout } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import type { MakeCommand } from '../../cli/output/command.js';
import { formatError } from '../../cli/output/error-text.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from '../../cli/output/options.js';
import type { Config } from '../../config/config.js';
import { printable } from '../../core/name/printable.js';
import type { EvictionFailure } from '../../core/drain/pod-eviction.js';
import { failureText } from '../../core/drain/workload-eviction.js';
import { parseDuration } from '../../core/quantity/duration.js';
import { attempt, EvictdError, InputError, UnavailableError } from '../../errors.js';
import { jsonDocument } from '../../core/name/json-text.js';
import type { OutputFormat } from '../../cli/output/request-answer.js';
import { askRunning } from '../../node/control-client.js';
import { forecastRescheduling, placesLines } from '../kubernetes/cluster/rescheduling.js';
import { askAcrossRestarts } from './restarting-evictd.js';

interface EvictOptions extends ConfigOptions {
  readonly grace?: number;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  readonly output: OutputFormat;
}

/** The result for one workload, for --output json. */
type EvictResult = { readonly workload: string } & (
  | { readonly state: 'evicting' | 'ended' | 'would be evicted'; readonly path: string; readonly message?: string }
  | { readonly state: 'refused' | 'failed'; readonly code: string; readonly message: string }
);

/** A Status of Kubernetes' API. */
interface EvictionStatus {
  readonly code: number;
  readonly message?: string;
  readonly details?: { readonly name?: string; readonly uid?: string; readonly causes?: NonNullable<EvictionFailure['causes']> };
}

/** The fields of a journal record that the command reads. */
interface EvictionRecord {
  readonly type: string;
  readonly decision?: number;
  readonly dryRun?: boolean;
  readonly result?: string;
  readonly victim?: { readonly path: string };
  readonly message: string;
}

const LOOK_MS = 200;
const NO_INSTANCE = 'EVICTD_EVICT_NO_INSTANCE';

export const evict: MakeCommand = ({ io }) => {
  const command = new Command('evict')
    .description('end workloads, as far as their disruption budgets permit')
    .argument('<workloads...>', 'each by its name or path in evictd rank')
    .option(
      '--grace <time>',
      'time from SIGTERM to SIGKILL, in whole seconds; 0s: SIGKILL at once (default: that of the workload, else 30s)',
      wholeSeconds,
    )
    .option('--dry-run', 'only say whether each would be evicted')
    .option('--wait', 'wait until each has ended')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: [
      "As Kubernetes' eviction API: a protected workload is refused, and so is one whose disruption budget permits no eviction now. evictd does not start what it has ended.",
    ],
    examples: [
      'evictd evict web@1.service',
      'evictd evict web@1.service --grace 10s --wait',
      "evictd evict '/workload.slice/batch' --dry-run",
    ],
    exit: {
      0: 'evicted',
      1: 'refused: it is protected, or has two disruption budgets; or it could not be ended',
      ...USAGE_AND_CONFIG,
      66: 'there is no such workload',
      75: 'a disruption budget does not permit it now; or no evictd guards the node, or it does not answer',
    },
  }).action(
    async (workloads: readonly string[], { grace: graceSeconds, dryRun = false, wait = false, output, ...options }: EvictOptions) => {
      const { config } = configFromOptions(options);
      const errors: unknown[] = [];
      const results: EvictResult[] = [];
      const print = (line: string): void => {
        if (output === 'text') io.stdout(`${line}\n`);
      };
      for (const name of workloads) {
        try {
          results.push(await evictOne(config, name, { graceSeconds, dryRun, wait }, print));
        } catch (error) {
          errors.push(error);
          if (!(error instanceof EvictdError)) continue;
          const { code, message } = error;
          results.push({ workload: name, state: code === 'EVICTD_EVICT_FAILED' ? 'failed' : 'refused', code, message });
        }
      }
      const spared = new Map(results.flatMap((one) => (one.state === 'would be evicted' ? [[one.path, one.workload] as const] : [])));
      const pods = [...spared.keys()].filter((path) => path.includes('kubepods'));
      const places = placesLines(await forecastRescheduling(config.kubernetes, { pods }), spared);
      for (const line of places) print(line);
      if (output === 'json') io.stdout(jsonDocument({ evictions: results, ...(places.length > 0 && { couldRunNow: places }) }));
      for (const error of errors.slice(1)) io.stderr(formatError(error));
      if (errors.length > 0) throw errors[0];
    },
  );
};

/** @throws EvictdError  it is refused, or could not be ended */
async function evictOne(
  config: Config,
  name: string,
  { graceSeconds, dryRun, wait }: { readonly graceSeconds: number | undefined; readonly dryRun: boolean; readonly wait: boolean },
  print: (line: string) => void,
): Promise<EvictResult> {
  const deleteOptions = { ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }), ...(dryRun && { dryRun: ['All'] }) };
  const before = wait && !dryRun ? await records(config, askRunning) : [];
  const { why, ...workload } = await evicted(config, name, deleteOptions);
  const isSpared = dryRun || why !== undefined;
  print(`${printable(name)} ${isSpared ? 'would be evicted' : 'is being evicted'}${why ?? ''}`);
  const common = { workload: name, path: workload.path };
  if (!wait || dryRun) return { ...common, state: isSpared ? 'would be evicted' : 'evicting' };
  const message = await ended(config, workload, new Set(before.filter(isOver).map(({ decision }) => decision)));
  print(message);
  return { ...common, state: isSpared ? 'would be evicted' : 'ended', message };
}

export function wholeSeconds(text: string): number {
  const seconds = Number(attempt(() => parseDuration(text)) ?? -1n) / 1e9;
  if (Number.isInteger(seconds) && seconds >= 0) return seconds;
  throw new InvalidArgumentError('write whole seconds: 30s, 1m.');
}

interface NamedWorkload {
  readonly path: string;
  readonly uid: string;
}

const evictionOf = (name: string, deleteOptions: object) => {
  const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions });
  return { method: 'POST', path: '/v1/evictions', body } as const;
};

/** @returns the workload; `why`: the reason that nothing ends although it may: ': evictd …'. @throws EvictdError */
async function evicted(config: Config, name: string, deleteOptions: object): Promise<NamedWorkload & { readonly why: string | undefined }> {
  const answer = await askRunning(config, evictionOf(name, deleteOptions), NO_INSTANCE);
  const { code, message = '', details } = answer as EvictionStatus;
  if (code === 201) return { path: details?.name ?? '', uid: details?.uid ?? '', why: message === '' ? undefined : `: ${message}` };
  const shown = printable(name);
  if (code === 404) {
    const hint = 'evictd rank lists the workloads';
    throw new InputError('EVICTD_EVICT_WORKLOAD', `there is no workload ${shown}, or it has no process`, { isMissing: true, hint });
  }
  const why = `${shown} is not evicted: ${failureText({ code, message, causes: details?.causes ?? [] })}`;
  if (code !== 429)
    throw new EvictdError('EVICTD_EVICT_REFUSED', why, {
      hint: `evictd explain ${shown} says what would change that; see docs/evict.md`,
    });
  const hint = `try again when ${details?.causes === undefined ? 'evictions have ended' : 'another workload of the budget is up'}`;
  throw new UnavailableError('EVICTD_EVICT_BUDGET', why, { hint });
}

const isOver = ({ type, dryRun }: EvictionRecord): boolean => type === 'outcome' || dryRun === true;

/**
 * What has become of it.
 *
 * @param before  decisions that were over before: a workload may be evicted already
 * @throws EvictdError  it could not be ended, or evictd has ended
 */
async function ended(config: Config, { path, uid }: NamedWorkload, before: ReadonlySet<number | undefined>): Promise<string> {
  for (;;) {
    const own = (await records(config)).filter(({ decision, victim }) => victim?.path === path && !before.has(decision));
    const over = own.find(isOver);
    if (over?.result === 'failed' || over?.result === 'abandoned') throw new EvictdError('EVICTD_EVICT_FAILED', over.message);
    if (over) return over.message;
    if (own.length === 0 && (await isGone(config, path, uid))) return `${printable(path)} has ended`;
    await setTimeout(LOOK_MS);
  }
}

/** It has ended before evictd decided its eviction, so that no decision follows. */
async function isGone(config: Config, path: string, uid: string): Promise<boolean> {
  const request = evictionOf(path, { dryRun: ['All'], preconditions: { uid } });
  const { code } = (await askAcrossRestarts(config, request, NO_INSTANCE)) as EvictionStatus;
  return code === 404 || code === 409;
}

/** The newest first. */
async function records(config: Config, ask = askAcrossRestarts): Promise<readonly EvictionRecord[]> {
  const answer = await ask(config, { method: 'GET', path: '/api/v1/decisions' }, NO_INSTANCE);
  return (answer as { readonly records: readonly EvictionRecord[] }).records;
}
