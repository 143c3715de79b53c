import { parsed } from '../../config/value/scalar.js';
import { TextError } from '../../config/value/value-text.js';
import type { SourceKind } from './source-kind.js';

/** A job object by its exact name, because Windows does not list them; a namespace ('Global\\NAME') is accepted. */
export const jobSource: SourceKind<'job', string> = {
  kind: 'job',
  os: 'windows',
  schema: parsed((text) => {
    if (text !== '' && /^(?:(?:Global|Local|Session\\\d+)\\)?[^\\*?\0]+$/.test(text)) return text;
    throw new TextError(
      'EVICTD_CONFIG_VALUE',
      `not the name of a job object: ${JSON.stringify(text)}`,
      'write the full name: batch, or Global\\batch',
    );
  }),
  descriptions: { '': 'Windows: this job object is a workload.' },
  example: 'a job object (job: NAME)',
  text: (name) => `job ${name}`,
  names: (name) => [{ name: `job ${name}`, path: [] }],
  found: { in: 'windows', select: (name) => ({ jobs: [name] }) },
};
