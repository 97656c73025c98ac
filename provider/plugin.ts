import * as grpc from "@grpc/grpc-js";
import engineGrpc from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engineProto from "@pulumi/pulumi/proto/engine_pb.js";
import pluginProto from "@pulumi/pulumi/proto/plugin_pb.js";
import providerGrpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import type { Change } from "./values.ts";

/**
 * What every plugin in this project does alike on the wire (pulumi/proto/provider.proto): serve, greet the engine,
 * report to its log, answer a diff, and end with the engine.
 */

// biome-ignore lint/suspicious/noExplicitAny: the generated messages share no interface for their fields.
export type Request = any;
type Failure = Partial<grpc.ServiceError>;
type Reply<T> = (error: Failure | null, value?: T) => void;

/** An asynchronous function as a gRPC handler; `failure` says how an error goes back. */
export const handler =
  <T>(answer: (request: Request) => Promise<T> | T, failure: (error: unknown) => Failure = plainFailure) =>
  async (call: { request: Request }, callback: Reply<T>): Promise<void> => {
    try {
      callback(null, await answer(call.request));
    } catch (error) {
      callback(failure(error));
    }
  };

const plainFailure = (error: unknown): Failure => ({
  code: grpc.status.UNKNOWN,
  details: error instanceof Error ? error.message : String(error),
});

let engine: engineGrpc.EngineClient | undefined;

function connectEngine(address: string): void {
  if (address) engine ??= new engineGrpc.EngineClient(address, grpc.credentials.createInsecure());
}

let said: Promise<void> = Promise.resolve();

/**
 * Tell the engine's log something about a resource: `status` is shown while it lasts, the others stay. Messages
 * arrive in their order; resolves when this one has. One that is lost fails nothing.
 */
export function report(urn: string, severity: "info" | "warning" | "status", message: string): Promise<void> {
  const request = new engineProto.LogRequest();
  const { WARNING, INFO } = engineProto.LogSeverity;
  request.setUrn(urn);
  request.setMessage(message);
  request.setEphemeral(severity === "status");
  request.setSeverity(severity === "warning" ? WARNING : INFO);
  said = said.then(
    () =>
      new Promise((told) => {
        if (engine === undefined) told();
        else engine.log(request, new grpc.Metadata(), { deadline: Date.now() + 5000 }, () => told());
      }),
  );
  return said;
}

/** The calls that need no thought: greeting, version, schema; `configured` is given the plugin's settings. */
export const greeting = (
  version: string,
  schema: () => object,
  configured: (request: Request) => void = () => {},
) => ({
  handshake: handler((request) => {
    connectEngine(request.getEngineAddress());
    const response = new provider.ProviderHandshakeResponse();
    response.setAcceptSecrets(true);
    return response;
  }),
  attach: handler((request) => {
    connectEngine(request.getAddress());
    return new emptyProto.Empty();
  }),
  getPluginInfo: handler(() => {
    const response = new pluginProto.PluginInfo();
    response.setVersion(version);
    return response;
  }),
  getSchema: handler(() => {
    const response = new provider.GetSchemaResponse();
    response.setSchema(JSON.stringify(schema()));
    return response;
  }),
  checkConfig: handler((request) => {
    const response = new provider.CheckResponse();
    response.setInputs(request.getNews());
    return response;
  }),
  diffConfig: handler(() => new provider.DiffResponse()),
  configure: handler((request) => {
    configured(request);
    const response = new provider.ConfigureResponse();
    response.setAcceptsecrets(true);
    response.setSupportspreview(true);
    return response;
  }),
});

/** A diff property by property; `some` where the object differs although no input does. */
export function diffResponse(
  changes: readonly (Change & { replace: boolean })[],
  some = changes.length > 0,
): provider.DiffResponse {
  const response = new provider.DiffResponse();
  const { DIFF_SOME, DIFF_NONE } = provider.DiffResponse.DiffChanges;
  response.setChanges(some ? DIFF_SOME : DIFF_NONE);
  response.setHasdetaileddiff(true);
  const { Kind } = provider.PropertyDiff;
  const kinds = {
    add: [Kind.ADD, Kind.ADD_REPLACE],
    delete: [Kind.DELETE, Kind.DELETE_REPLACE],
    update: [Kind.UPDATE, Kind.UPDATE_REPLACE],
  } as const;
  for (const { path, kind, replace } of changes) {
    const property = new provider.PropertyDiff();
    property.setKind(kinds[kind][replace ? 1 : 0]);
    property.setInputdiff(true);
    response.getDetaileddiffMap().set(path, property);
    response.addDiffs(path);
    if (replace) response.addReplaces(path);
  }
  return response;
}

/**
 * Serve the calls and tell the engine the port. An engine that is killed takes no leave: its orphan must not work
 * on, since another run may have begun, so `leave` is called when the engine is gone or asks to end.
 */
export function serve(service: object, leave: () => void): void {
  const unlimited = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
  const server = new grpc.Server(unlimited);
  server.addService(providerGrpc.ResourceProviderService, service as grpc.UntypedServiceImplementation);
  connectEngine(process.argv.slice(2).find((argument) => !argument.startsWith("-")) ?? "");
  server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    process.stdout.write(`${port}\n`);
  });
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || leave(), 500).unref();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, leave);
}
