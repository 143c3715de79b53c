import { Argument, Command } from 'commander';
import type { LoadedConfig } from '../../config/config.js';
import { jsonDocument } from '../../core/name/json-text.js';
import { initialState } from '../../core/decide/state.js';
import type { ResourceSignal } from '../../core/signal/signal.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, signalOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configForLooking, type ConfigOptions } from '../../cli/output/options.js';
import { rankingIn } from '../../cli/output/read-ranking.js';
import { styleFor } from '../../cli/output/style.js';
import { askEvictd } from '../../node/control-client.js';
import { policyOf } from '../../node/configuration-in-force.js';
import { filesystemsRead, type OpenReading } from '../../node/reading.js';
import { forecastRescheduling, reschedulingText, type Rescheduling } from '../kubernetes/cluster/rescheduling.js';
import { explainNow } from './explain-now.js';
import { findWorkload } from './find-workload.js';
import type { Explanation, WorkloadExplanation } from './explanation.js';
import { explanationText } from './explain-text.js';
import { settingsIn } from './settings.js';

interface ExplainDeps {
  readonly io: Io;
  readonly open: OpenReading;
}

interface ExplainOptions extends ConfigOptions {
  readonly signal?: ResourceSignal;
  readonly output: 'text' | 'json';
  readonly at?: string;
  readonly utc?: boolean;
}

export function explainCommand({ io, open }: ExplainDeps): Command {
  const command = new Command('explain')
    .addArgument(new Argument('[workload]', 'its name, its path, or a pattern'))
    .description('say why a workload is or is not evicted, now or at a time')
    .addOption(signalOption())
    .option('--at <time>', "what evictd saw then, from the journal: 2h, 08:30, '2026-11-21 08:30', as for history")
    .option('--utc', '--at: times in UTC')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: ['Asks the running evictd. Without one it reads the node itself.'],
    examples: [
      'evictd explain                   why nothing is evicted now',
      'evictd explain batch.service',
      'evictd explain web.service --at 08:30',
    ],
    exit: {
      0: 'explained',
      1: 'only root and the members of controlSocket.group may ask evictd',
      ...USAGE_AND_CONFIG,
      66: 'no such workload, or --at without a journal',
      75: 'evictd does not answer, or the node cgroup is missing',
    },
  }).action(async (workload: string | undefined, options: ExplainOptions) => {
    const loaded = configForLooking(options, io).loaded;
    if (options.at !== undefined) {
      const { explainPast } = await import('./explain-past.js');
      io.stdout(await explainPast({ ...options, at: options.at, workload }, loaded, io));
      return;
    }
    const explanation =
      (await explainedByEvictd(loaded, options.signal, workload)) ??
      (await explainLocally(loaded, options.signal ?? 'memory.available', workload, open));
    const { workload: asked } = explanation;
    const couldRun = asked && (await placesFor(loaded, asked));
    const found = couldRun && { couldRun };
    if (options.output === 'json') io.stdout(jsonDocument({ ...explanation, ...found }));
    else io.stdout(`${explanationText(explanation, styleFor(io))}${couldRun ? `\n${reschedulingText(couldRun)}` : ''}`);
  });
}

/** undefined: it is not a pod of the API server, or is never evicted, or no API server is configured. */
async function placesFor({ config }: LoadedConfig, { name, path, protection }: WorkloadExplanation): Promise<Rescheduling | undefined> {
  if (protection !== null || !path.includes('kubepods')) return undefined;
  const found = await forecastRescheduling(config.kubernetes, { pods: [name] });
  return found === undefined || 'unknown' in found ? found : found.get(name);
}

/** undefined: no evictd runs. */
async function explainedByEvictd(
  { config }: LoadedConfig,
  signal: ResourceSignal | undefined,
  workload: string | undefined,
): Promise<Explanation | undefined> {
  const query = new URLSearchParams({ ...(signal && { signal }), ...(workload !== undefined && { workload }) });
  return (await askEvictd(config, { method: 'GET', path: `/api/v1/explain?${String(query)}` })) as Explanation | undefined;
}

/** Reads the node, as a step would without anything that is kept from step to step. */
async function explainLocally(
  loaded: LoadedConfig,
  signal: ResourceSignal,
  wanted: string | undefined,
  open: OpenReading,
): Promise<Explanation> {
  const reading = await open(loaded);
  try {
    await filesystemsRead(reading.node);
    reading.node.arm(loaded.config.thresholds, () => undefined); // pressure and swap are read only where a threshold asks for them
    const observations = reading.node.read();
    const report = await rankingIn(reading, loaded, signal);
    const moment = {
      source: 'this process',
      node: report.node.name,
      signal,
      policy: policyOf(loaded.config, false),
      state: initialState,
      pauses: [],
      observations,
      ranking: report.ranked,
      nowNs: process.hrtime.bigint(),
      settingsOf: settingsIn(loaded),
    } as const;
    return explainNow(moment, wanted === undefined ? undefined : findWorkload(report, wanted));
  } finally {
    reading.close();
  }
}

export const explain: MakeCommand = ({ io }) =>
  explainCommand({ io, open: async (loaded) => (await import('../../node/runtime-reading.js')).openRuntimeReading(loaded) });
