import { compileProgram, runProgram } from './program-code.js';

runProgram(compileProgram(import.meta.dirname), import.meta.dirname);
