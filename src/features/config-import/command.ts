import { Command, Option } from 'commander';
import { Report } from '../../config/value/report.js';
import { UsageError } from '../../errors.js';
import { withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { readImportSource, type ImportSource } from './import-source.js';
import { migrationText } from './migration-text.js';
import type { ProgramName } from './programs.js';

const NAMES: readonly ProgramName[] = ['oomd', 'systemd-oomd', 'earlyoom', 'nohang'];

/** What the arguments of earlyoom are called in messages. */
const ARGUMENTS = 'arguments';

export interface ImportDeps {
  readonly io: Io;
  /** Prefix of the files of systemd-oomd; '': this machine's. */
  readonly root: string;
}

export function importCommand(deps: ImportDeps): Command {
  const command = new Command('import')
    .description('convert the configuration of another program, and print the result')
    .addOption(new Option('--from <program>', 'the other program').choices(NAMES).makeOptionMandatory())
    .argument('[source...]', 'its files; for earlyoom its arguments, or the file that sets EARLYOOM_ARGS')
    // The arguments of earlyoom begin with hyphens.
    .allowUnknownOption();
  return withHelp(command, {
    about: [
      'Each setting becomes its counterpart in evictd. A setting without one becomes a comment with the reason and the nearest alternative. The command writes only to standard output, and reads only the files.',
      'systemd-oomd without a file: oomd.conf, its drop-ins and rulesets of this machine. Name the drop-ins of units with ManagedOOM settings, too.',
    ],
    examples: [
      'evictd config import --from oomd /etc/oomd.json > evictd.yaml',
      'evictd config import --from systemd-oomd',
      'evictd config import --from systemd-oomd /etc/systemd/oomd.conf \\',
      "  '/etc/systemd/system/user@.service.d/10-oomd.conf'",
      "evictd config import --from earlyoom '-m 10 -s 100 --avoid ^sshd$'",
      'evictd config import --from earlyoom /etc/default/earlyoom',
      'evictd config import --from nohang /etc/nohang/nohang.conf',
      'evictd config check --config evictd.yaml',
    ],
    exit: {
      0: 'printed',
      64: 'usage error',
      65: 'a file is not text',
      66: 'a file is missing',
      78: 'a file is not in the format of that program',
    },
  }).action(async (given: readonly string[], { from }: { readonly from: ProgramName }) => {
    deps.io.stdout(await imported(from, given, deps.root));
  });
}

/**
 * @throws UsageError   too many or too few sources
 * @throws InputError   a file cannot be read
 * @throws ConfigError  with everything that is wrong in the files
 */
async function imported(from: ProgramName, given: readonly string[], root: string): Promise<string> {
  const { PROGRAMS } = await import('./programs.js');
  const sources = from === 'earlyoom' ? [earlyoomSource(given)] : (await filesOf(from, given, root)).map(readImportSource);
  const report = new Report();
  const migration = PROGRAMS[from].convert(sources, report);
  report.throwIssues(sources.map(({ file }) => file));
  return migrationText(heading(from, sources), migration);
}

function heading(from: ProgramName, sources: readonly ImportSource[]): string {
  return `From ${from} (${sources.map(({ file }) => file).join(', ')}), by evictd config import. Try it with evictd run --dry-run before you stop ${from}.`;
}

async function filesOf(from: Exclude<ProgramName, 'earlyoom'>, given: readonly string[], root: string): Promise<readonly string[]> {
  const [option] = given.filter((file) => file.startsWith('-'));
  const hint = 'evictd config import --help';
  if (option !== undefined) throw new UsageError('EVICTD_USAGE', `unknown option '${option}'`, { hint });
  if (from === 'systemd-oomd') {
    const { oomdFilePaths } = await import('../../host/linux/managed-oom/oomd-files.js');
    const { settings, rules } = oomdFilePaths(root);
    const files = given.length > 0 ? given : [...settings, ...rules];
    if (files.length > 0) return files;
    throw new UsageError('EVICTD_USAGE', 'this machine has no oomd.conf: name a file', { hint });
  }
  if (given.length === 1) return given;
  throw new UsageError('EVICTD_USAGE', `${from} has one configuration file: ${String(given.length)} are named`, { hint });
}

/** One argument may be a file, or all arguments of earlyoom as one text; several are these arguments one by one. */
function earlyoomSource(given: readonly string[]): ImportSource {
  const [only = '', ...more] = given;
  if (more.length > 0) return { file: ARGUMENTS, text: given.map(quoted).join(' ') };
  return only.trim() === '' || only.startsWith('-') ? { file: ARGUMENTS, text: only } : readImportSource(only);
}

function quoted(word: string): string {
  return /^[\w./,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
