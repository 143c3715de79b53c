import { lstatSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { defaultFile } from '../../../config/merge/defaults.js';
import { EvictdError } from '../../../errors.js';
import { USAGE_AND_CONFIG, withHelp } from '../../../cli/output/help.js';
import type { Io } from '../../../cli/output/io.js';
import { configFromOptions } from '../../../cli/output/options.js';
import { take } from '../install-step.js';
import { configurationEffect, presentHere, type PresentWorkloadsOf } from './configuration-effect.js';
import { detectedProfile, type DetectedProfile } from './detected-profile.js';
import { PROFILES, profileText, type Profile } from './profiles.js';

export interface InitDeps {
  readonly io: Io;
  readonly detect: () => DetectedProfile;
  /** Asks on the terminal; undefined: there is none. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  readonly workloads: PresentWorkloadsOf;
}

interface InitOptions {
  readonly profile?: Profile;
  readonly config: string;
  readonly force?: true;
}

/** @param without  what happens if it is not given */
export const profileOption = (without: string): Option =>
  new Option('--profile <profile>', `what this machine runs; without it ${without}`).choices(PROFILES);

export const schemaFile = (): string => join(import.meta.dirname, 'evictd.schema.json');

export function initCommand({ io, detect, ask, workloads }: InitDeps): Command {
  const command = new Command('init')
    .description('write a first configuration, and show what it would evict')
    .addOption(profileOption('evictd asks, or detects it'))
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
    const effect = await configurationEffect(() => configFromOptions({ config: realpathSync(file) }), workloads);
    io.stdout(`wrote ${file}\n\n${effect}\nnext:\n  evictd config check --config ${file}\n  evictd run --dry-run --config ${file}\n`);
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

/** `evictd config init` on this machine. */
export const initHere = (io: Io): Command =>
  initCommand({
    io,
    detect: detectedProfile,
    ask: io.isTTY && process.stdin.isTTY ? askOnTerminal : undefined,
    workloads: presentHere,
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
