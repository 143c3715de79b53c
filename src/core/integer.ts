/** An integer that every JSON reader gets right: a number up to 2^53, beyond that a decimal string. */
export function jsonInteger(value: bigint): number | string {
  return value >= -(2n ** 53n) && value <= 2n ** 53n ? Number(value) : value.toString();
}
