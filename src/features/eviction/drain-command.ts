import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from '../../cli/output/options.js';
import type { Config } from '../../config/config.js';
import { printable } from '../../core/name/printable.js';
import { UnavailableError } from '../../errors.js';
import { jsonDocument } from '../../core/name/json-text.js';
import { answerText, type OutputFormat } from '../../cli/output/request-answer.js';
import { askRunning } from '../../node/control-client.js';
import { forecastRescheduling, placesLines } from '../kubernetes/cluster/rescheduling.js';
import { wholeSeconds } from './command.js';
import type { DrainDocument, DrainPlanDocument } from './drain-answer.js';
import { askAcrossRestarts } from './restarting-evictd.js';

interface DrainOptions extends ConfigOptions {
  readonly timeout?: number;
  readonly grace?: number;
  readonly dryRun?: boolean;
  readonly output: OutputFormat;
}

type Output = Pick<DrainOptions, 'output'>;

const LOOK_MS = 500;
const POD_NAME = /^[^/]+\/[^/]+$/;
const NO_INSTANCE = 'EVICTD_DRAIN_NO_INSTANCE';

const EXIT = { 0: 'done', 1: 'failure at run time', ...USAGE_AND_CONFIG, 75: 'no evictd guards the node, or it does not answer' };

export const drain: MakeCommand = ({ io }) => {
  const command = new Command('drain')
    .description('end all workloads, within their disruption budgets')
    .option('--timeout <time>', 'give up after this time, in whole seconds (default: never)', wholeSeconds)
    .option('--grace <time>', 'time from SIGTERM to SIGKILL, in whole seconds (default: that of the workload, else 30s)', wholeSeconds)
    .option('--dry-run', 'only say what would end and what would stay')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: [
      'For maintenance, as kubectl drain: cordons the node, ends the workloads that run now, and waits until they have ended. Where a budget permits no eviction it waits until another workload of it is up. The drain goes on if this command ends or evictd is restarted; evictd uncordon ends it.',
    ],
    examples: ['evictd drain --dry-run', 'evictd drain --timeout 10m && systemctl reboot'],
    exit: {
      ...EXIT,
      0: 'all have ended',
      75: 'not drained: timeout, uncordon, another drain, evictd makes a dry run, or no evictd guards the node',
    },
  }).action(async ({ timeout, grace, dryRun = false, output, ...options }: DrainOptions) => {
    const { config } = configFromOptions(options);
    const body = JSON.stringify({ timeoutSeconds: timeout, graceSeconds: grace, dryRun });
    const plan = (await askRunning(config, { method: 'POST', path: '/api/v1/drain', body }, NO_INSTANCE)) as DrainPlanDocument;
    const print = (line: string): void => {
      if (output === 'text') io.stdout(`${line}\n`);
    };
    for (const text of plan.waits) print(text);
    for (const { name, why } of plan.stays) print(`${printable(name)} stays: ${why}`);
    if (!plan.dryRun) {
      let last: DrainDocument = plan;
      try {
        print(await followed(config, print, plan, (now) => (last = now)));
      } finally {
        if (output === 'json') io.stdout(jsonDocument({ ...plan, ...last }));
      }
      return;
    }
    for (const name of plan.ends) print(`${printable(name)} would be evicted`);
    const pods = plan.ends.filter((name) => POD_NAME.test(name));
    const places = placesLines(await forecastRescheduling(config.kubernetes, { pods, isCordoned: true }));
    for (const line of places) print(line);
    if (output === 'json') io.stdout(jsonDocument({ ...plan, ...(places.length > 0 && { couldRunNow: places }) }));
    if (dryRun) return;
    const message = 'evictd makes a dry run on this node: it has ended nothing, and the node is not cordoned';
    throw new UnavailableError('EVICTD_DRAIN_DRY_RUN', message, { hint: 'start evictd without --dry-run' });
  });
};

const cordonCommand = (name: 'cordon' | 'uncordon', description: string, about: string): MakeCommand => {
  return ({ io }) =>
    withHelp(addConfigOptions(new Command(name).description(description).addOption(outputOption())), {
      about: [about],
      examples: [`evictd ${name}`],
      exit: EXIT,
    }).action(async ({ output, ...options }: ConfigOptions & Output) => {
      const request = { method: 'POST', path: `/api/v1/${name}` } as const;
      io.stdout(answerText(await askRunning(configFromOptions(options).config, request, NO_INSTANCE), output));
    });
};

export const cordon = cordonCommand(
  'cordon',
  'keep new workloads from starting on this node',
  'Sets the taint node.kubernetes.io/unschedulable:NoSchedule until evictd uncordon or a reboot: evictd admit refuses workloads that do not tolerate it. Nothing is ended.',
);

export const uncordon = cordonCommand(
  'uncordon',
  'let workloads start again, and end a drain',
  'evictd starts nothing that it has ended: evictd history --type eviction lists what a drain has ended.',
);

/** Says what the drain does until it is over. @throws UnavailableError  its time is over, or it was ended */
async function followed(
  config: Config,
  print: (line: string) => void,
  { ends }: Pick<DrainPlanDocument, 'ends'>,
  seen: (now: DrainDocument) => void,
): Promise<string> {
  const printedLines = new Set<string>();
  const printOnce = (line: string): void => {
    if (!printedLines.has(line)) print(line);
    printedLines.add(line);
  };
  for (;;) {
    const answer = await askAcrossRestarts(config, { method: 'GET', path: '/api/v1/drain' }, NO_INSTANCE);
    seen(answer as DrainDocument);
    const { drain: now } = answer as DrainDocument;
    if (now === null || now.state === 'cordoned') {
      throw new UnavailableError('EVICTD_DRAIN_ENDED', 'an operator has ended the drain', {
        hint: 'evictd history --type drain shows when',
      });
    }
    for (const name of now.unnamed > 0 ? [] : ends)
      if (!now.left.some((other) => other.name === name)) printOnce(`${printable(name)} has ended`);
    if (now.state === 'drained') return `the node is drained: ${String(now.total)} ended`;
    const left = now.left.map(({ name }) => printable(name)).join(', ');
    if (now.state === 'timeout') {
      const hint = 'evictd drain tries again; evictd uncordon lets workloads start';
      throw new UnavailableError('EVICTD_DRAIN_TIMEOUT', `the time of the drain is over; not ended: ${left}`, { hint });
    }
    for (const { name, evicting, waits } of now.left) {
      if (evicting) printOnce(`${printable(name)} is being evicted`);
      else if (waits !== undefined) printOnce(`${printable(name)} waits: ${waits}`);
    }
    await setTimeout(LOOK_MS);
  }
}
