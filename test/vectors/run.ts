/** `npm run vectors -- FILE…`: checks this program against files of measured results (README.md). */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

import { runVectors, type VectorRun } from './runner.js';

function ownFiles(): string[] {
  return readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => relative(process.cwd(), join(import.meta.dirname, name)));
}

function run(args: readonly string[]): VectorRun {
  const option = args.find((arg) => arg.startsWith('-'));
  if (option !== undefined) return { exitCode: 64, stdout: '', stderr: `${option}: no such option. Usage: npm run vectors -- [FILE…]\n` };
  return runVectors(args.length === 0 ? ownFiles() : args);
}

const { exitCode, stdout, stderr } = run(process.argv.slice(2));
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exitCode;
