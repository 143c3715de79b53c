// dist/program-code.js makes dist/check.cache and dist/program.cache: V8's code of the programs, with all that a check
// compiles. Run by the Node that is to use it; nothing is done where it is there.
import { join } from 'node:path';
import { compileProgram, PROGRAMS, runProgram, writeProgramCode } from '../src/launch/program-code.js';

const missing = PROGRAMS.map((name) => compileProgram(join(import.meta.dirname, name))).filter(({ cached }) => !cached);
process.on('exit', () => {
  for (const program of missing) writeProgramCode(program);
  process.exitCode = 0; // whatever was found
});
process.argv.splice(1, Infinity, 'evictd', 'check');
for (const program of missing) runProgram(program);
