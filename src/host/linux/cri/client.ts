import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { Call } from './runtime-calls.js';
import { decode, encode, type Decoded, type Encodable, type Table } from './protobuf.js';

/** Enough for a list of thousands of pods. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** A restarted runtime is found again within this time. */
const MAX_RECONNECT_MS = 5_000;

/**
 * A connection to a container runtime, made on the first call and again after a loss. It is a bundle of its own, so
 * that gRPC is loaded only where a runtime is configured.
 */
export class CriClient {
  readonly #client: Client;

  /** @param endpoint  unix:///run/containerd/containerd.sock */
  constructor(endpoint: string) {
    this.#client = new Client(endpoint, credentials.createInsecure(), {
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.initial_reconnect_backoff_ms': 500,
      'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_MS,
      'grpc.enable_http_proxy': 0,
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_retries': 0,
    });
  }

  /** Rejects with the runtime's error, at the deadline, or at once where there is no connection. */
  ask<I extends Table, O extends Table>(
    { path, input, output, headers = {} }: Call<I, O>,
    request: Encodable<I>,
    withinMs: number,
  ): Promise<Decoded<O>> {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        (value: Encodable<I>) => encode(input, value),
        (bytes) => decode(output, bytes),
        request,
        metadata,
        { deadline: Date.now() + withinMs },
        (error, answer) => {
          if (error) reject(error);
          else if (answer === undefined) reject(new Error(`${path}: no answer`));
          else resolve(answer);
        },
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}
