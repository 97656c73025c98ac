import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as grpc from "@grpc/grpc-js";
import engineGrpc from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import providerGrpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import { project } from "../scripts/environment.ts";

/** A plugin as the engine runs it: a process with the engine's address, spoken to over gRPC. */

export type Logged = { urn: string; message: string; ephemeral: boolean; at: number };

export type Driven = {
  client: providerGrpc.ResourceProviderClient;
  /** What it has written to the engine's log so far. */
  logged: Logged[];
  process: ChildProcess;
  stop(): void;
};

/** Start the plugin whose main file this is, relative to the project. */
export async function drive(file: string): Promise<Driven> {
  const logged: Logged[] = [];
  const server = new grpc.Server();
  server.addService(engineGrpc.EngineService, {
    // biome-ignore lint/suspicious/noExplicitAny: a generated message.
    log(call: { request: any }, reply: (error: null, value: object) => void) {
      const { request } = call;
      logged.push({
        urn: request.getUrn(),
        message: request.getMessage(),
        ephemeral: request.getEphemeral(),
        at: performance.now(),
      });
      reply(null, new emptyProto.Empty());
    },
  });
  const engine = await new Promise<number>((done, failed) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? failed(error) : done(port),
    ),
  );
  const child = spawn(process.execPath, [join(project, file), `127.0.0.1:${engine}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise((done) => createInterface({ input: child.stdout }).once("line", done));
  const client = new providerGrpc.ResourceProviderClient(
    `127.0.0.1:${port}`,
    grpc.credentials.createInsecure(),
  );
  return {
    client,
    logged,
    process: child,
    stop() {
      client.close();
      child.kill();
      server.forceShutdown();
    },
  };
}

type Method =
  | "create"
  | "update"
  | "delete"
  | "diff"
  | "check"
  | "read"
  | "cancel"
  | "checkConfig"
  | "getSchema";

/** A unary call as a promise. */
export function call<Response>(driven: Driven, method: Method, request: object): Promise<Response> {
  const client = driven.client as unknown as Record<
    Method,
    (request: object, callback: (error: Error | null, response: Response) => void) => void
  >;
  return new Promise((done, failed) =>
    client[method](request, (error, response) => (error ? failed(error) : done(response))),
  );
}
