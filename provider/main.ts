import * as grpc from "@grpc/grpc-js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import statusProto from "@pulumi/pulumi/proto/status_pb.js";
import anyProto from "google-protobuf/google/protobuf/any_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import manifest from "../package.json" with { type: "json" };
import { type AnyType, type Context, type Inputs, providerSettings, settingsFrom } from "./context.ts";
import { explain } from "./errors.ts";
import { addressIn } from "./host-of-stack.ts";
import { Lifecycle, Unfinished } from "./lifecycle.ts";
import { noteFile } from "./plan-note.ts";
import { diffResponse, greeting, handler as plainHandler, type Request, report, serve } from "./plugin.ts";
import { typeOf } from "./registry.ts";
import { schema } from "./schema.ts";
import { urnParts } from "./urn.ts";
import { type Decoded, decode, encode, type Plain } from "./values.ts";

/**
 * The provider's gRPC service. It is implemented directly, since the SDK's helper hides configuration, previews and detailed diffs.
 */

const lifecycle = new Lifecycle();

/** The type of a resource, by its URN. */
function typeIn(urn: string): AnyType {
  const token = urnParts(urn).type;
  const type = typeOf(token);
  if (type === undefined) throw new Error(`storagelab has no resource type ${token}`);
  return type;
}

const note = noteFile();

const contextOf = (urn: string, { secrets }: Pick<Decoded, "secrets">): Context => ({
  owner: urnParts(urn).owner,
  urn,
  secrets,
  note,
  report: (severity, message) => void report(urn, severity, message),
});

/** Outputs with what is secret kept secret: what arrived in an envelope leaves in one. */
const reply = (outputs: Plain, inputs: Decoded) => encode(outputs, inputs.secrets);

/** What is kept of an unfinished object holds its secrets in envelopes too. */
const keepSecret =
  ({ secrets }: Decoded) =>
  (error: unknown): never => {
    if (error instanceof Unfinished) error.secrets = secrets;
    throw error;
  };

/** An error's whole chain of causes is printed here, once. */
const handler = <T>(answer: (request: Request) => Promise<T> | T) => plainHandler(answer, failure);

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

function configured(request: Request): void {
  lifecycle.settings = settingsFrom(decode(request.getArgs()).value);
}

const service = {
  ...greeting(manifest.version, schema, configured),
  checkConfig: handler((request) => {
    const response = new provider.CheckResponse();
    response.setInputs(request.getNews());
    for (const [key, value] of Object.entries(decode(request.getNews()).value)) {
      if (key === "version" || key === "forget") continue;
      const known = key in providerSettings;
      if (known && ["true", "false"].includes(String(value))) continue;
      const failed = new provider.CheckFailure();
      failed.setProperty(key);
      failed.setReason(
        known
          ? `true or false, not ${String(value)}`
          : `no setting of storagelab; it has ${[...Object.keys(providerSettings), "forget"].join(", ")}`,
      );
      response.addFailures(failed);
    }
    return response;
  }),
  check: handler((request) => {
    const type = typeIn(request.getUrn());
    const news = decode(request.getNews());
    const response = new provider.CheckResponse();
    response.setInputs(request.getNews());
    for (const [path, reason] of lifecycle.check(type, news.value, news.unknowns, news.secrets)) {
      const failed = new provider.CheckFailure();
      failed.setProperty(path);
      failed.setReason(reason);
      response.addFailures(failed);
    }
    return response;
  }),
  diff: handler(async (request) => {
    const type = typeIn(request.getUrn());
    const olds = decode(request.getOldInputs() ?? request.getOlds());
    const news = decode(request.getNews());
    const ignored: string[] = request.getIgnorechangesList();
    const diff = await lifecycle.diff(
      type,
      olds.value as Inputs,
      news.value as Inputs,
      news.unknowns,
      contextOf(request.getUrn(), { secrets: [...olds.secrets, ...news.secrets] }),
    );
    const changes = diff.changes.filter((change) => !ignored.includes(change.path));
    const response = diffResponse(changes, diff.drifted || changes.length > 0);
    // A storage object's name is taken: the old one goes before the new one comes.
    response.setDeletebeforereplace(true);
    return response;
  }),
  create: handler(async (request) => {
    const type = typeIn(request.getUrn());
    const inputs = decode(request.getProperties());
    const context = contextOf(request.getUrn(), inputs);
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
    const type = typeIn(request.getUrn());
    const inputs = decode(request.getInputs());
    const response = new provider.ReadResponse();
    if (Object.keys(inputs.value).length === 0) {
      const context = contextOf(request.getUrn(), inputs);
      const address = (name: string) => addressIn(urnParts(context.urn).stack, name);
      const imported = await lifecycle.import(type, request.getId(), address, context);
      if (imported === undefined) return response;
      response.setId(imported.id);
      response.setInputs(encode(imported.inputs, imported.secrets));
      response.setProperties(encode(imported.outputs, imported.secrets));
      return response;
    }
    const found = await lifecycle.read(type, inputs.value as Inputs);
    if (found === undefined) return response;
    response.setId(request.getId());
    response.setInputs(reply(found.inputs, inputs));
    response.setProperties(reply(found.outputs, inputs));
    return response;
  }),
  update: handler(async (request) => {
    const type = typeIn(request.getUrn());
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
          .update(type, inputs.value as Inputs, contextOf(request.getUrn(), inputs))
          .catch(keepSecret(inputs)),
        inputs,
      ),
    );
    return response;
  }),
  delete: handler(async (request) => {
    const type = typeIn(request.getUrn());
    const inputs = decode(request.getOldInputs() ?? request.getProperties());
    await lifecycle.delete(type, inputs.value as Inputs, contextOf(request.getUrn(), inputs));
    return new emptyProto.Empty();
  }),
  cancel: handler(() => {
    lifecycle.interrupt();
    return new emptyProto.Empty();
  }),
};

serve(service, () => process.exit(1));
