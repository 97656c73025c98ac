import * as grpc from "@grpc/grpc-js";
import engineGrpc from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engineProto from "@pulumi/pulumi/proto/engine_pb.js";

/** The engine's log, where a command's lines appear beside its resource while it runs. */

let engine: engineGrpc.EngineClient | undefined;

export function connectEngine(address: string): void {
  if (address) engine ??= new engineGrpc.EngineClient(address, grpc.credentials.createInsecure());
}

/** Lines of one resource, in order: each is sent when the one before has arrived. */
export function logLines(urn: string): { line: (text: string) => void; done: () => Promise<void> } {
  let last: Promise<void> = Promise.resolve();
  const send = (text: string) =>
    new Promise<void>((sent) => {
      const request = new engineProto.LogRequest();
      request.setUrn(urn);
      request.setSeverity(engineProto.LogSeverity.INFO);
      request.setMessage(text);
      // A status: shown while it lasts, not repeated in the summary.
      request.setEphemeral(true);
      // A line that is lost does not fail the command.
      if (engine === undefined) sent();
      else engine.log(request, new grpc.Metadata(), { deadline: Date.now() + 5000 }, () => sent());
    });
  return {
    line(text) {
      last = last.then(() => send(text));
    },
    done: () => last,
  };
}
