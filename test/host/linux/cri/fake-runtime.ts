import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials, status, type handleUnaryCall } from '@grpc/grpc-js';
import { servicesIn } from '../../../support/cri/containerd.js';

type Handler = (request: Readonly<Record<string, unknown>>) => object | 'hang' | Promise<object | 'hang'>;

/** What a test's runtime says, by call; what is thrown with a `code` is a status of gRPC. */
export type Handlers = Readonly<Record<string, Handler>>;

/** A container runtime that says what a test wants it to, over real gRPC, by a codec that is not evictd's. */
export class FakeRuntime {
  readonly directory = mkdtempSync(join(tmpdir(), `evictd-test-${String(process.pid)}-`));
  readonly endpoint = `unix://${this.directory}/cri.sock`;
  handlers: Handlers;
  /** Calls so far, with their requests. */
  readonly requests: [call: string, request: Readonly<Record<string, unknown>>][] = [];
  /** By call: for how long the latest one was to be waited for. */
  readonly withinMs = new Map<string, number>();
  #server: Server | undefined;

  constructor(handlers: Handlers) {
    this.handlers = handlers;
  }

  async start(): Promise<this> {
    const server = new Server();
    for (const { service } of servicesIn('src/host/linux/cri/api.proto')) {
      const implementation = Object.keys(service).map((name): [string, handleUnaryCall<Record<string, unknown>, object>] => [
        name,
        (call, answer) => {
          const { request } = call;
          this.requests.push([name, request]);
          this.withinMs.set(name, Number(call.getDeadline()) - Date.now());
          Promise.resolve()
            .then(() => this.handlers[name]?.(request))
            .then(
              (said) => {
                if (said === undefined) answer({ code: status.UNIMPLEMENTED });
                else if (said !== 'hang') answer(null, said);
              },
              (error: unknown) => {
                answer({ code: status.UNKNOWN, details: 'broken', ...(error as object) });
              },
            );
        },
      ]);
      server.addService(service, Object.fromEntries(implementation));
    }
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(this.endpoint, ServerCredentials.createInsecure(), (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    this.#server = server;
    return this;
  }

  stop(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
    rmSync(join(this.directory, 'cri.sock'), { force: true });
  }

  remove(): void {
    this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
