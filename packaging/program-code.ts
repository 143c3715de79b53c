// dist/program-code.js makes dist/program.cache: V8's code of the program, with all that a check compiles. Run by the
// Node that is to use it; nothing is done where it is there.
import { compileProgram, runProgram, writeProgramCode } from '../src/launch/program-code.js';

const directory = import.meta.dirname;
const program = compileProgram(directory);
if (!program.cached) {
  process.on('exit', () => {
    writeProgramCode(program, directory);
    process.exitCode = 0; // whatever was found
  });
  process.argv.splice(1, Infinity, 'evictd', 'check');
  runProgram(program, directory);
}
