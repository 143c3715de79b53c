import * as z from 'zod/mini';
import { pattern } from '../../config/value/scalar.js';
import type { SourceKind } from './source-kind.js';

const EXAMPLE = 'C:\\Apps\\**';

/** A pattern of program paths. A process inside another workload is no workload of its own. */
export const processSource: SourceKind<'process', { readonly path: string }> = {
  kind: 'process',
  os: 'windows',
  schema: z.strictObject({ path: pattern }),
  descriptions: { '': 'Windows: programs with all their children are workloads.', path: 'Windows: path or pattern of the program.' },
  example: `programs (process: { path: ${EXAMPLE} })`,
  missing: { path: `path: ${EXAMPLE}` },
  mapHint: (text = EXAMPLE) => `{ path: ${text} }`,
  text: ({ path }) => `process ${path}`,
  names: ({ path }) => [{ name: `process ${path}`, path: ['path'] }],
  wholeMachine: { 'process **': { what: 'unprotected process of the machine', hint: `name programs, like ${EXAMPLE}` } },
  found: { in: 'windows', select: ({ path }) => ({ programs: [path] }) },
};
