import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import type { LoadedConfig } from '../../config/config.js';
import { jsonDocument } from '../../core/name/json-text.js';
import type { ResourceSignal } from '../../core/signal/signal.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, signalOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configForLooking, type ConfigOptions } from '../../cli/output/options.js';
import { styleFor } from '../../cli/output/style.js';
import { askEvictd } from '../../node/control-client.js';
import { rankingQuery, type AskedRanking } from './candidate-order.js';
import type { Drawing } from './screen-line.js';
import { statusScreen } from './status-screen.js';
import type { StatusDocument } from './status-document.js';

/**
 * Reads a status; each call goes on from the one before, for the growth of workloads.
 *
 * @param ended  the answer is no longer waited for
 */
export type ReadStatus = (asked: AskedRanking, ended?: AbortSignal) => Promise<StatusDocument>;

interface StatusOptions extends ConfigOptions {
  readonly signal?: ResourceSignal;
  readonly output: 'text' | 'json';
}

export interface StatusDeps {
  readonly io: Io;
  readonly open: (loaded: LoadedConfig) => ReadStatus;
  /** Between two readings. */
  readonly againMs?: number;
}

/** Growth is a difference: a person waits this long for it. */
const AGAIN_MS = 1_000;

export function statusCommand({ io, open, againMs = AGAIN_MS }: StatusDeps): Command {
  const command = new Command('status')
    .description('show the state of evictd and of its node on one screen')
    .addOption(signalOption())
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: [
      'Asks the running evictd. Without one it reads the node itself. On a terminal it reads twice, a second apart, to show how fast workloads grow.',
    ],
    examples: ['evictd status', 'evictd status -o json | jq .candidates'],
    exit: {
      0: 'shown',
      1: 'only root and the members of controlSocket.group may ask evictd',
      ...USAGE_AND_CONFIG,
      75: 'evictd does not answer, or the node cgroup is missing',
    },
  }).action(async ({ signal, output, ...options }: StatusOptions) => {
    const read = open(configForLooking(options, io).loaded);
    let status = await read({ signal });
    if (output === 'json') {
      io.stdout(jsonDocument(status));
      return;
    }
    if (io.isTTY && status.candidates.workloads.some(({ growth }) => growth === null)) {
      await setTimeout(againMs);
      status = await read({ signal });
    }
    const lines = statusScreen(status, drawingFor(io));
    io.stdout(`${lines.join('\n')}\n`);
  });
}

const PLAIN_COLUMNS = 120;

/** The drawing for the screen of a terminal, with a line for the prompt; else for a file. */
export function drawingFor(io: Io): Drawing {
  const { isTTY, columns, rows, env } = io;
  return {
    columns: isTTY ? (columns ?? 80) : PLAIN_COLUMNS,
    rows: isTTY && rows !== undefined ? rows - 1 : undefined,
    unicode: /utf-?8/i.test([env.LC_ALL, env.LC_CTYPE, env.LANG].find((locale) => locale) ?? ''),
    style: styleFor(io),
  };
}

/** The status of the running evictd; without one, of the node. @param timeoutMs  for the answer of evictd */
export function openStatus(loaded: LoadedConfig, timeoutMs?: number): ReadStatus {
  let own: ReadStatus | undefined;
  return async (asked, ended) => {
    const path = `/api/v1/status?${rankingQuery(asked)}`;
    const answer = await askEvictd(loaded.config, { method: 'GET', path, ended }, timeoutMs);
    if (answer !== undefined) return answer as StatusDocument;
    own ??= await openNodeStatus(loaded);
    return own(asked);
  };
}

async function openNodeStatus(loaded: LoadedConfig): Promise<ReadStatus> {
  const { NodeStatus } = await import('./node-status.js');
  const { openRuntimeReading } = await import('../../node/runtime-reading.js');
  const node = new NodeStatus(loaded, (config) => openRuntimeReading(config));
  return (asked) => node.read(asked);
}

export const status: MakeCommand = ({ io }) => statusCommand({ io, open: openStatus });
