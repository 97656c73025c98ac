import { randomBytes } from "node:crypto";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { diffResponse, greeting, handler, type Request, report, serve } from "../../provider/plugin.ts";
import { type Decoded, decode, differences, encode, type Plain } from "../../provider/values.ts";
import { endCommands, type Inputs, type Outputs, runCommand } from "./command.ts";
import { redactor } from "./secrets.ts";

/**
 * A stand-in for the plugin of @pulumi/command 1.2.1, for machines that can't reach Pulumi's release host. It knows
 * local:Command, and does with it what the original does: the same changes, replacements, outputs and live output.
 */

const version = "1.2.1";
const type = "command:local:Command";
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

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
  let last: Promise<void> = Promise.resolve();
  const show = (line: string): void => {
    last = report(request.getUrn(), "status", redact(line));
  };
  try {
    const outputs = await runCommand(command, inputs.value as Inputs, previous as Partial<Outputs>, show);
    return reply(inputs, outputs);
  } catch (error) {
    throw new Error(redact(error instanceof Error ? error.message : String(error)));
  } finally {
    await last;
  }
}

const service = {
  ...greeting(version, () => ({ name: "command", version, resources: { [type]: {} } })),
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
    const changes = differences(olds.value, news.value).map(({ path, kind }) => ({
      path,
      // A value that is not known yet decodes to nothing, but it is no deletion.
      kind: news.unknowns.includes(path) ? ("update" as const) : kind,
      replace: /^triggers\b/.test(path),
    }));
    return diffResponse(changes);
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

/** Commands end with their engine instead of running on unseen. */
async function leave(): Promise<void> {
  await endCommands();
  process.exit(0);
}

serve(service, () => void leave());
