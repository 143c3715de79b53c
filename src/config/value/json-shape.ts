import * as z from 'zod/mini';

/** What a value may be in JSON, where zod's schema does not say it: of a transform, or of a short form. */
export interface JsonShape {
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly items?: JsonShape;
  /** Accepted besides the schema's own shape. */
  readonly also?: readonly JsonShape[];
}

/** Read by json-schema.ts alone. */
export const SHAPES = z.registry<JsonShape>();

/** The schema, with what its values may be in JSON. */
export function shaped<T extends z.ZodMiniType>(schema: T, shape: JsonShape): T {
  SHAPES.add(schema, shape);
  return schema;
}
