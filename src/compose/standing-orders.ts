import { OrderFile, orderFilePath } from '../journal/order-file.js';
import type { ProcessRecords } from '../monitor/ports/process-records.js';
import type { StandingOrder } from '../monitor/ports/standing-order.js';
import { StandingOrders } from '../monitor/standing-orders.js';
import type { Locked } from './phases/lock.js';
import type { Published } from './phases/publish.js';

/**
 * The standing orders of a node, with the file for their records; undefined: a dry run, or the file cannot be made,
 * which is logged. Closed with everything else.
 */
export function openStandingOrders(
  openOrder: (file: string) => StandingOrder,
  { options: { dryRun }, node, inForce, instance, log, closers }: Locked,
  { journal, saved, reporter }: Published,
  processes: ProcessRecords | undefined,
): StandingOrders | undefined {
  if (dryRun) return undefined;
  try {
    const file = closers.add(new OrderFile(orderFilePath(inForce.started.runtimeDirectory, instance)));
    const { ordered: found } = saved;
    if (file.found !== undefined && found === undefined) journal.recordPrepared(file.found.line);
    const order = openOrder(file.path);
    const { keeper } = saved;
    return closers.add(
      new StandingOrders({ order, file, found, journal, keeper, node, reporter, processes }, inForce.config.standingOrderAfterNs),
    );
  } catch (error) {
    log.warn(`there are no standing orders, evictd evicts only by its main thread: ${String(error)}`, { code: 'EVICTD_ORDER_FILE' });
    return undefined;
  }
}
