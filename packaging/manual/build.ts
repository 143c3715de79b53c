// What is made of the commands and of the configuration's schema: manual pages (dist/man), scripts for completion
// (dist/completion) and the JSON Schema (dist/evictd.schema.json).
//
//   tsx packaging/manual/build.ts
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { COMMANDS } from '../../src/cli/commands.js';
import { wholeProgram } from '../../src/cli/program.js';
import { configurationSchema } from '../../src/config/json-schema.js';
import { SCRIPTS } from '../../src/features/completion/scripts.js';
import { shownCommands } from '../../src/features/completion/shown-command.js';
import { lastChange } from '../last-change.js';
import { commandPages } from './command-pages.js';
import { configurationPage } from './configuration-page.js';

/** Nothing is run: the commands are only described. */
const nothing = (): void => undefined;
const io = { stdout: nothing, stderr: nothing, isTTY: false, env: {} };

/** The manual's pages, by the name of their files. */
export async function manual(): Promise<Map<string, string>> {
  const edge = { io, logsToTerminal: false, setExitCode: nothing, onStop: nothing, onReload: nothing, onResume: nothing };
  const root = await wholeProgram(edge, COMMANDS);
  const edition = { date: new Date(Number(lastChange()) * 1000).toISOString().slice(0, 10), version: manifest.version };
  const commands = shownCommands(root);
  return new Map([
    ...[...commandPages(root, edition), configurationPage(edition)].map(({ file, text }) => [`man/${file}`, text] as const),
    ...Object.entries(SCRIPTS).map(([shell, script]) => [`completion/evictd.${shell}`, script(commands)] as const),
    ['evictd.schema.json', `${JSON.stringify(configurationSchema(), null, 2)}\n`],
  ]);
}

if (process.argv[1] === import.meta.filename) {
  const files = await manual();
  for (const directory of ['man', 'completion']) rmSync(join('dist', directory), { recursive: true, force: true });
  for (const [file, text] of files) {
    mkdirSync(dirname(join('dist', file)), { recursive: true });
    writeFileSync(join('dist', file), text);
  }
}
