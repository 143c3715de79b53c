// Constraints among the devices of a claim (dynamic-resource-allocation, structured: constraint.go, v1.36).
import type { AttributeValue, PublishedDevice } from './device.js';
import type { DeviceConstraint } from './resource-claim.js';

/** A request, by all names that a constraint may use for it: 'gpu', 'gpu/large'. */
export type RequestNames = readonly string[];

/** The devices chosen so far, as a constraint sees them. */
export class ConstraintState {
  /** How many devices have a value. */
  readonly #values = new Map<string, number>();

  constructor(private readonly constraint: DeviceConstraint) {}

  /** Takes a device up if it may be chosen beside the others. A device without the attribute may not. */
  add(names: RequestNames, device: PublishedDevice): boolean {
    if (!this.#concerns(names)) return true;
    const value = attributeOf(device, this.constraint.attribute);
    if (value === undefined) return false;
    const key = `${value.kind}:${String(value.value)}`;
    const count = this.#values.get(key) ?? 0;
    if (this.constraint.kind === 'distinctAttribute' ? count > 0 : this.#values.size > 0 && count === 0) return false;
    this.#values.set(key, count + 1);
    return true;
  }

  /** The reverse of an `add` that returned true. */
  remove(names: RequestNames, device: PublishedDevice): void {
    const value = this.#concerns(names) ? attributeOf(device, this.constraint.attribute) : undefined;
    if (value === undefined) return;
    const key = `${value.kind}:${String(value.value)}`;
    const count = this.#values.get(key) ?? 0;
    if (count > 1) this.#values.set(key, count - 1);
    else this.#values.delete(key);
  }

  #concerns(names: RequestNames): boolean {
    const { requests } = this.constraint;
    return requests.length === 0 || names.some((name) => requests.includes(name));
  }
}

/** @param name  with a domain. The domain of an attribute that is written without one is the driver. */
function attributeOf({ slice, device }: PublishedDevice, name: string): AttributeValue | undefined {
  const found = device.attributes.get(name);
  if (found !== undefined || !name.startsWith(`${slice.driver}/`)) return found;
  return device.attributes.get(name.slice(slice.driver.length + 1));
}
