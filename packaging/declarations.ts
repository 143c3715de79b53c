// Removes the declarations in dist/types that the library's own do not refer to: tsc writes those of all that it has read.
// The rest are those of modules.
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

writeFileSync('dist/types/package.json', '{ "type": "module" }\n');
const program = ts.createProgram(['dist/types/index.d.ts'], {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ['node'],
});
const needed = new Set(program.getSourceFiles().map(({ fileName }) => resolve(fileName)));
const written = ts.sys.readDirectory('dist/types', ['.d.ts']);
for (const file of written.filter((each) => !needed.has(resolve(each)))) rmSync(file);
