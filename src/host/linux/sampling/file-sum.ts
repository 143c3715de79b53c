import type { FileSum } from '../../../native/binding.js';

/** The value that the addon's sampler computes (native/sample/linux/file_sum.cc). `fields` begins with its files'. */
export function valueOf({ weights, reclaimable = [] }: Omit<FileSum, 'files'>, fields: Float64Array): number {
  return reclaimable.reduce(
    (value, part) => {
      const sum = weighted(part.weights, fields);
      return sum > 0 ? value - (sum - Math.min(Math.floor(sum / 2), part.kept)) : value;
    },
    weighted(weights, fields),
  );
}

function weighted(weights: readonly number[], fields: Float64Array): number {
  return weights.reduce((sum, weight, field) => (weight === 0 ? sum : sum + weight * (fields[field] ?? NaN)), 0);
}
