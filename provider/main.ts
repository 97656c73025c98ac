import * as grpc from "@grpc/grpc-js";
import engineGrpc from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engineProto from "@pulumi/pulumi/proto/engine_pb.js";
import pluginProto from "@pulumi/pulumi/proto/plugin_pb.js";
import providerGrpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import statusProto from "@pulumi/pulumi/proto/status_pb.js";
import anyProto from "google-protobuf/google/protobuf/any_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import manifest from "../package.json" with { type: "json" };
import { explain, RefusedError } from "./errors.ts";
import { type AnyType, type Context, type Diff, Lifecycle, Unfinished } from "./lifecycle.ts";
import { typeOf } from "./registry.ts";
import type { OnHost } from "./resource.ts";
import { schema } from "./schema.ts";
import { type Decoded, decode, encode, type Plain } from "./values.ts";

/**
 * The provider's gRPC service (pulumi/proto/provider.proto), the only file that knows the wire.
 * It is implemented directly, since the SDK's helper hides configuration, previews and detailed diffs.
 */

type Inputs = OnHost & Plain;

const lifecycle = new Lifecycle();
let engine: engineGrpc.EngineClient | undefined;
/** Ends when the engine has all that was reported, in its order. */
let said: Promise<void> = Promise.resolve();

/** `urn:pulumi:STACK::PROJECT::TYPES::NAME` → its parts. */
function parts(urn: string): { owner: string; type: AnyType } {
  const [, , stack = ""] = urn.split("::")[0]?.split(":") ?? [];
  const [, project = "", chain = ""] = urn.split("::");
  const token = chain.split("$").at(-1) ?? "";
  const type = typeOf(token);
  if (type === undefined) throw new Error(`storagelab has no resource type ${token}`);
  return { owner: `${project}/${stack}`, type };
}

function contextOf(urn: string): Context {
  return {
    owner: parts(urn).owner,
    report(severity, message) {
      const request = new engineProto.LogRequest();
      request.setUrn(urn);
      request.setMessage(message);
      request.setEphemeral(severity === "status");
      request.setSeverity(
        severity === "warning" ? engineProto.LogSeverity.WARNING : engineProto.LogSeverity.INFO,
      );
      said = said.then(() => new Promise((told) => (engine ? engine.log(request, () => told()) : told())));
    },
  };
}

/** Outputs with what is secret kept secret: what arrived in an envelope leaves in one. */
const reply = (outputs: Plain, inputs: Decoded) => encode(outputs, inputs.secrets);

/** What is kept of an unfinished object holds its secrets in envelopes too. */
const keepSecret =
  ({ secrets }: Decoded) =>
  (error: unknown): never => {
    if (error instanceof Unfinished) error.secrets = secrets;
    throw error;
  };

type Reply<T> = (error: Partial<grpc.ServiceError> | null, value?: T) => void;
// biome-ignore lint/suspicious/noExplicitAny: the generated messages share no interface for their fields.
type Request = any;

/** An asynchronous handler as a gRPC one; an error's whole chain of causes is printed here, once. */
const handler =
  <T>(answer: (request: Request) => Promise<T> | T) =>
  async (call: { request: Request }, callback: Reply<T>): Promise<void> => {
    try {
      callback(null, await answer(call.request));
    } catch (error) {
      callback(failure(error));
    }
  };

function failure(error: unknown): Partial<grpc.ServiceError> {
  const message = explain(error);
  if (!(error instanceof Unfinished)) return { code: grpc.status.UNKNOWN, details: message };
  const detail = new provider.ErrorResourceInitFailed();
  detail.setId(error.id);
  detail.setProperties(encode(error.outputs, error.secrets));
  detail.setReasonsList([message]);
  const packed = new anyProto.Any();
  packed.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const status = new statusProto.Status();
  status.setCode(grpc.status.UNKNOWN);
  status.setMessage(message);
  status.addDetails(packed);
  const metadata = new grpc.Metadata();
  metadata.add("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
  return { code: grpc.status.UNKNOWN, details: message, metadata };
}

function diffResponse(diff: Diff): provider.DiffResponse {
  const response = new provider.DiffResponse();
  const some = diff.drifted || diff.changes.length > 0;
  response.setChanges(
    some ? provider.DiffResponse.DiffChanges.DIFF_SOME : provider.DiffResponse.DiffChanges.DIFF_NONE,
  );
  response.setHasdetaileddiff(true);
  // A storage object's name is taken: the old one goes before the new one comes.
  response.setDeletebeforereplace(true);
  const { Kind } = provider.PropertyDiff;
  const kinds = {
    add: [Kind.ADD, Kind.ADD_REPLACE],
    delete: [Kind.DELETE, Kind.DELETE_REPLACE],
    update: [Kind.UPDATE, Kind.UPDATE_REPLACE],
  } as const;
  for (const { path, kind, replace } of diff.changes) {
    const property = new provider.PropertyDiff();
    property.setKind(kinds[kind][replace ? 1 : 0]);
    property.setInputdiff(true);
    response.getDetaileddiffMap().set(path, property);
    response.addDiffs(path);
    if (replace) response.addReplaces(path);
  }
  return response;
}

const service = {
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
    response.setVersion(manifest.version);
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
  configure: handler(() => {
    const response = new provider.ConfigureResponse();
    response.setAcceptsecrets(true);
    response.setSupportspreview(true);
    return response;
  }),
  check: handler((request) => {
    const { type } = parts(request.getUrn());
    const news = decode(request.getNews());
    const response = new provider.CheckResponse();
    response.setInputs(request.getNews());
    for (const [path, reason] of lifecycle.check(type, news.value, news.unknowns)) {
      const failed = new provider.CheckFailure();
      failed.setProperty(path);
      failed.setReason(reason);
      response.addFailures(failed);
    }
    return response;
  }),
  diff: handler(async (request) => {
    const { type } = parts(request.getUrn());
    const olds = decode(request.getOldInputs() ?? request.getOlds());
    const news = decode(request.getNews());
    const ignored: string[] = request.getIgnorechangesList();
    const diff = await lifecycle.diff(
      type,
      olds.value as Inputs,
      news.value as Inputs,
      news.unknowns,
      contextOf(request.getUrn()),
    );
    return diffResponse({
      ...diff,
      changes: diff.changes.filter((change) => !ignored.includes(change.path)),
    });
  }),
  create: handler(async (request) => {
    const { type } = parts(request.getUrn());
    const context = contextOf(request.getUrn());
    const inputs = decode(request.getProperties());
    const response = new provider.CreateResponse();
    if (request.getPreview()) {
      if (inputs.unknowns.length > 0) response.setProperties(request.getProperties());
      else
        response.setProperties(
          reply(await lifecycle.previewCreate(type, inputs.value as Inputs, context), inputs),
        );
      return response;
    }
    const made = await lifecycle.create(type, inputs.value as Inputs, context).catch(keepSecret(inputs));
    response.setId(made.id);
    response.setProperties(reply(made.outputs, inputs));
    return response;
  }),
  read: handler(async (request) => {
    const { type } = parts(request.getUrn());
    const inputs = decode(request.getInputs());
    const response = new provider.ReadResponse();
    if (Object.keys(inputs.value).length === 0)
      throw new RefusedError(`${request.getId()} can't be imported: importing is not built yet`);
    const found = await lifecycle.read(type, inputs.value as Inputs);
    if (found === undefined) return response;
    response.setId(request.getId());
    response.setInputs(reply(found.inputs, inputs));
    response.setProperties(reply(found.outputs, inputs));
    return response;
  }),
  update: handler(async (request) => {
    const { type } = parts(request.getUrn());
    const inputs = decode(request.getNews());
    const response = new provider.UpdateResponse();
    if (request.getPreview()) {
      if (inputs.unknowns.length > 0) response.setProperties(request.getNews());
      else response.setProperties(reply(lifecycle.previewUpdate(type, inputs.value as Inputs), inputs));
      return response;
    }
    response.setProperties(
      reply(
        await lifecycle
          .update(type, inputs.value as Inputs, contextOf(request.getUrn()))
          .catch(keepSecret(inputs)),
        inputs,
      ),
    );
    return response;
  }),
  delete: handler(async (request) => {
    const { type } = parts(request.getUrn());
    const inputs = decode(request.getOldInputs() ?? request.getProperties());
    await lifecycle.delete(type, inputs.value as Inputs, contextOf(request.getUrn()));
    return new emptyProto.Empty();
  }),
  cancel: handler(() => new emptyProto.Empty()),
};

function connectEngine(address: string): void {
  if (address) engine ??= new engineGrpc.EngineClient(address, grpc.credentials.createInsecure());
}

// An engine that is killed takes no leave. Its orphan must not work on: another run may have begun.
const engineProcess = process.ppid;
setInterval(() => process.ppid === engineProcess || process.exit(1), 500).unref();

const unlimited = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
const server = new grpc.Server(unlimited);
server.addService(
  providerGrpc.ResourceProviderService,
  service as unknown as grpc.UntypedServiceImplementation,
);
connectEngine(process.argv.slice(2).find((argument) => !argument.startsWith("-")) ?? "");
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.stdout.write(`${port}\n`);
});
