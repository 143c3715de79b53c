import { join } from 'node:path';
import { compileProgram, programOf, runProgram } from './program-code.js';

runProgram(compileProgram(join(import.meta.dirname, programOf(process.argv.slice(2)))));
