import { randomBytes } from "node:crypto";
import * as grpc from "@grpc/grpc-js";
import pluginProto from "@pulumi/pulumi/proto/plugin_pb.js";
import providerGrpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { type Decoded, decode, differences, encode, type Plain } from "../../provider/values.ts";
import { endCommands, type Inputs, type Outputs, runCommand } from "./command.ts";
import { connectEngine, logLines } from "./engine-log.ts";
import { redactor } from "./secrets.ts";

/**
 * A stand-in for the plugin of @pulumi/command 1.2.1, for machines that can't reach Pulumi's release host. It knows
 * local:Command, and does with it what the original does: the same changes, replacements, outputs and live output.
 */

const type = "command:local:Command";
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

// biome-ignore lint/suspicious/noExplicitAny: the generated messages share no interface for their fields.
type Request = any;
type Reply<T> = (error: Partial<grpc.ServiceError> | null, value?: T) => void;

const handler =
  <T>(answer: (request: Request) => Promise<T> | T) =>
  async (call: { request: Request }, callback: Reply<T>): Promise<void> => {
    try {
      callback(null, await answer(call.request));
    } catch (error) {
      callback({
        code: grpc.status.UNKNOWN,
        details: error instanceof Error ? error.message : String(error),
      });
    }
  };

/** What has one secret input has secret outputs: a command may print what it was given. */
const reply = (inputs: Decoded, outputs: Partial<Outputs>): structProto.Struct =>
  encode(
    { ...inputs.value, ...outputs },
    inputs.secrets.length > 0 ? [...inputs.secrets, "stdout", "stderr"] : [],
  );

/** In a preview: the inputs as they came, their secrets and unknowns too, and outputs that nobody knows yet. */
function previewed(properties: structProto.Struct): structProto.Struct {
  const response = structProto.Struct.deserializeBinary(properties.serializeBinary());
  for (const output of ["stdout", "stderr"]) {
    const value = new structProto.Value();
    value.setStringValue(unknown);
    response.getFieldsMap().set(output, value);
  }
  return response;
}

async function execute(
  request: Request,
  command: string | undefined,
  struct: structProto.Struct,
  previous: Plain,
) {
  const inputs = decode(struct);
  if (command === undefined)
    return reply(inputs, { stdout: String(previous.stdout ?? ""), stderr: String(previous.stderr ?? "") });
  const redact = redactor(struct);
  const log = logLines(request.getUrn());
  try {
    const outputs = await runCommand(command, inputs.value as Inputs, previous as Partial<Outputs>, (line) =>
      log.line(redact(line)),
    );
    return reply(inputs, outputs);
  } catch (error) {
    throw new Error(redact(error instanceof Error ? error.message : String(error)));
  } finally {
    await log.done();
  }
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
    response.setVersion("1.2.1");
    return response;
  }),
  getSchema: handler(() => {
    const response = new provider.GetSchemaResponse();
    response.setSchema(JSON.stringify({ name: "command", version: "1.2.1", resources: { [type]: {} } }));
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
  invoke: handler((request) => {
    throw new Error(only(request.getTok()));
  }),
  check: handler((request) => {
    const response = new provider.CheckResponse();
    response.setInputs(request.getNews());
    const token = request.getUrn().split("::")[2]?.split("$").at(-1);
    if (token !== type) throw new Error(only(token));
    const { value } = decode(request.getNews());
    for (const property of ["assetPaths", "archivePaths"].filter((name) => value[name] !== undefined)) {
      const failure = new provider.CheckFailure();
      failure.setProperty(property);
      failure.setReason(only(property));
      response.addFailures(failure);
    }
    return response;
  }),
  diff: handler((request) => {
    const olds = decode(request.getOldInputs() ?? request.getOlds());
    const news = decode(request.getNews());
    const response = new provider.DiffResponse();
    const changes = differences(olds.value, news.value);
    const { DIFF_SOME, DIFF_NONE } = provider.DiffResponse.DiffChanges;
    response.setChanges(changes.length > 0 ? DIFF_SOME : DIFF_NONE);
    response.setHasdetaileddiff(true);
    const { Kind } = provider.PropertyDiff;
    const kinds = {
      add: [Kind.ADD, Kind.ADD_REPLACE],
      delete: [Kind.DELETE, Kind.DELETE_REPLACE],
      update: [Kind.UPDATE, Kind.UPDATE_REPLACE],
    } as const;
    for (const { path, kind } of changes) {
      const replace = /^triggers\b/.test(path);
      const property = new provider.PropertyDiff();
      // A value that is not known yet decodes to nothing, but it is no deletion.
      property.setKind(kinds[news.unknowns.includes(path) ? "update" : kind][replace ? 1 : 0]);
      property.setInputdiff(true);
      response.getDetaileddiffMap().set(path, property);
      response.addDiffs(path);
      if (replace) response.addReplaces(path);
    }
    return response;
  }),
  create: handler(async (request) => {
    const properties = request.getProperties();
    const response = new provider.CreateResponse();
    if (request.getPreview()) {
      response.setProperties(previewed(properties));
      return response;
    }
    const { create } = decode(properties).value as Inputs;
    response.setProperties(await execute(request, create, properties, {}));
    response.setId(`${request.getUrn().split("::").at(-1)}${randomBytes(4).toString("hex")}`);
    return response;
  }),
  read: handler((request) => {
    const response = new provider.ReadResponse();
    response.setId(request.getId());
    response.setInputs(request.getInputs());
    response.setProperties(request.getProperties());
    return response;
  }),
  update: handler(async (request) => {
    const response = new provider.UpdateResponse();
    if (request.getPreview()) {
      response.setProperties(previewed(request.getNews()));
      return response;
    }
    const { create, update } = decode(request.getNews()).value as Inputs;
    const before = decode(request.getOlds()).value;
    response.setProperties(await execute(request, update ?? create, request.getNews(), before));
    return response;
  }),
  delete: handler(async (request) => {
    const state = request.getProperties();
    const { value } = decode(state);
    await execute(request, (value as Inputs).delete, state, value);
    return new emptyProto.Empty();
  }),
  cancel: handler(async () => {
    await endCommands();
    return new emptyProto.Empty();
  }),
};

const only = (what: string | undefined): string =>
  `${what} is not in the stand-in for @pulumi/command, which knows local:Command without assets; the official ` +
  "plugin has it: pulumi plugin install resource command 1.2.1 --reinstall";

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

// A killed engine asks for nothing any more: its commands end with it instead of running on unseen.
const engine = process.ppid;
const leave = async () => {
  await endCommands();
  process.exit(0);
};
setInterval(() => {
  if (process.ppid !== engine) void leave();
}, 1000).unref();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, leave);
