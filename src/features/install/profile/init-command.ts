import { lstatSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { defaultFile } from '../../../config/merge/defaults.js';
import type { PresentWorkload } from '../../../config/lint/machine.js';
import { EvictdError } from '../../../errors.js';
import { USAGE_AND_CONFIG, withHelp } from '../../../cli/output/help.js';
import type { Io } from '../../../cli/output/io.js';
import { printable } from '../../../core/name/printable.js';
import { take } from '../install-step.js';
import { detectedProfile, type DetectedProfile } from './detected-profile.js';
import { PROFILES, profileText, type Profile } from './profiles.js';

export interface InitDeps {
  readonly io: Io;
  readonly detect: () => DetectedProfile;
  /** Asks on the terminal; undefined: there is none. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** The workloads that a configuration file names now. Throws if the machine cannot be read. */
  readonly workloads: (file: string) => Promise<readonly PresentWorkload[]>;
}

interface InitOptions {
  readonly profile?: Profile;
  readonly config: string;
  readonly force?: true;
}

const MOST_NAMED = 12;

export const profileOption = (): Option =>
  new Option('--profile <profile>', 'what this machine runs; left out: asked, or detected').choices(PROFILES);

/** The JSON Schema beside the program. */
export const schemaFile = (): string => join(import.meta.dirname, 'evictd.schema.json');

/** `evictd config init`. */
export function initCommand({ io, detect, ask, workloads }: InitDeps): Command {
  const command = new Command('init')
    .description('write a first configuration, and show what it would evict')
    .addOption(profileOption())
    .option('--config <file>', 'the file', defaultFile({ os: 'linux' }))
    .option('--force', 'overwrite an existing file');
  return withHelp(command, {
    about: ['The file is short and commented. It takes effect when evictd starts or reloads.'],
    examples: ['evictd config init', 'evictd config init --profile server --config ./evictd.yaml'],
    exit: { 0: 'written', 1: 'the file exists, or it cannot be written', ...USAGE_AND_CONFIG },
  }).action(async ({ profile: chosen, config, force }: InitOptions) => {
    const file = resolve(config);
    if (force !== true) requireNone(file);
    const found = detect();
    const profile = chosen ?? (await answeredProfile(found, ask)) ?? found.profile;
    if (force !== true) requireNone(file); // since the answer
    if (chosen === undefined) io.stdout(`profile ${profile}${profile === found.profile ? `: ${found.because}` : ''}\n`);
    take({ action: 'write', path: file, text: profileText(profile, { schema: schemaFile(), endpoint: found.endpoint }) }, unused);
    io.stdout(
      `wrote ${file}\n\n${await effectText(file, workloads)}\nnext:\n  evictd config check --config ${file}\n  evictd run --dry-run --config ${file}\n`,
    );
  });
}

/** Nor a link, whatever it leads to. */
function requireNone(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  throw new EvictdError('EVICTD_INSTALL_EXISTS', `${file} exists`, { hint: 'name another file with --config, or add --force' });
}

const unused = (): never => {
  throw new Error('a file is written without a command');
};

/** Asks until the answer is a profile. undefined: no terminal, or an empty answer. */
async function answeredProfile(found: DetectedProfile, ask: InitDeps['ask']): Promise<Profile | undefined> {
  for (;;) {
    const answer = (await ask?.(`What does this machine run: ${PROFILES.join(', ')}? [${found.profile}] `))?.trim().toLowerCase();
    if (answer === undefined || answer === '') return undefined;
    const profile = PROFILES.find((each) => each.startsWith(answer));
    if (profile !== undefined) return profile;
  }
}

/** What the configuration would evict now, and what it protects. */
async function effectText(file: string, workloads: InitDeps['workloads']): Promise<string> {
  let present: readonly PresentWorkload[];
  try {
    present = await workloads(file);
  } catch (error) {
    return `what it would evict is not known: ${error instanceof Error ? error.message : String(error)}\n`;
  }
  const evictable = present.filter(({ hindrance }) => hindrance === undefined);
  const held = present.filter(({ hindrance }) => hindrance !== undefined && hindrance.kind !== 'vacant');
  return [
    `may be evicted (${String(evictable.length)}): ${named(evictable.map(({ name }) => name))}\n`,
    `protected (${String(held.length)}): ${named(held.map(({ name, hindrance }) => `${name} (${hindrance?.text ?? ''})`))}\n`,
  ]
    .map((line) => printable(line.trimEnd()))
    .join('\n')
    .concat('\n');
}

function named(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.length === 0 ? 'none' : names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? `, … and ${String(more)} more` : ''}`;
}

/** `evictd config init` on this machine. */
export const initHere = (io: Io): Command =>
  initCommand({
    io,
    detect: detectedProfile,
    ask: io.isTTY && process.stdin.isTTY ? askOnTerminal : undefined,
    workloads: async (file) => {
      const [{ configFromOptions }, { readMachineFacts }, { filesystemsRead }] = await Promise.all([
        import('../../../cli/output/options.js'),
        import('../../../node/machine-facts.js'),
        import('../../../node/reading.js'),
      ]);
      return (await readMachineFacts(configFromOptions({ config: realpathSync(file) }), filesystemsRead)).workloads?.present ?? [];
    },
  });

async function askOnTerminal(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}
