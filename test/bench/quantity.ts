import { parseQuantity } from '../../src/core/quantity/quantity.js';
import { atLeast, type Benchmark, type Result } from './benchmark.js';
import { Distribution } from './distribution.js';

const TEXTS = ['100Mi', '1.5Gi', '0', '1e3', '12.345M', '9223372036854775807', '500m', '1Ki'];
const BATCH = 20_000;
const ROUNDS = 30;
const WARM_UP = 5;

export const quantity: Benchmark = {
  name: 'quantity',
  what: 'quantities parsed',
  run: (): Result => {
    const rates: number[] = [];
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const from = process.hrtime.bigint();
      for (let index = 0; index < BATCH; index += 1) parseQuantity(TEXTS[index % TEXTS.length] ?? '');
      if (round >= 0) rates.push(BATCH / (Number(process.hrtime.bigint() - from) / 1e3));
    }
    return { figures: [{ what: 'parseQuantity', unit: 'million/s', measured: new Distribution(rates), ...atLeast(1) }] };
  },
};
