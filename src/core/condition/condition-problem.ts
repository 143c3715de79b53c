/** `CONDITION`: not a condition. `METRIC`: not a metric, or none of this scope. `AMOUNT`: not an amount of this metric. */
export type ConditionFault = 'CONDITION' | 'METRIC' | 'AMOUNT';

/** What is wrong at one place of a condition. */
export class ConditionProblem extends Error {
  override readonly name = 'ConditionProblem';

  /** @param offset  in UTF-16 units from the start of the text */
  constructor(
    readonly fault: ConditionFault,
    readonly offset: number,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}
