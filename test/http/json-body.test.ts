import * as z from 'zod/mini';
import { expect, test } from 'vitest';
import { bodyAs } from '../../src/http/json-body.js';

const schema = z.strictObject({ kind: z.optional(z.literal('Eviction')), options: z.optional(z.strictObject({ grace: z.int() })) });

test.each([
  ['', 'it is not JSON'],
  ['[]', 'it is not an object'],
  ['{"kind":"Pod"}', 'kind is missing or has a wrong value'],
  ['{"dryrun":true}', 'it has "dryrun"'],
  ['{"options":{"grace":1,"propagation":"Background"}}', 'options has "propagation"'],
  ['{"options":{"grace":1.5}}', 'options.grace is missing or has a wrong value'],
])('the body %s is refused: %s', (body, wrong) => {
  expect(bodyAs(body, schema)).toEqual({ wrong });
});

test('a body that the schema accepts is returned', () => {
  expect(bodyAs('{"kind":"Eviction"}', schema)).toEqual({ data: { kind: 'Eviction' } });
});
