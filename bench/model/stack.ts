import { type LabConfig, parseConfig } from "../../config.ts";
import { baseOf, readBase } from "../../stack-file/base.ts";
import { type ExperimentAsked, withExperiment } from "../../stack-file/experiment.ts";
import { settingsOf } from "../../stack-file/read.ts";

/**
 * A stack file as the stack's program reads it, without Pulumi: with its base, by the same schema and rules. Secrets
 * stay encrypted and have stand-ins, as no figure depends on them. RangeError where the file is not right.
 * `experiment`: what an experiment puts in place of its benchmark.
 */
export async function readStack(
  stack: string,
  folder: string,
  experiment?: ExperimentAsked,
): Promise<LabConfig> {
  if (!/^[A-Za-z0-9_.-]+$/.test(stack))
    throw new RangeError(`${JSON.stringify(stack)} is no stack's name; write lab for Pulumi.lab.yaml`);
  const own = await settingsOf(stack, folder);
  const name = baseOf(own);
  const base = name === undefined ? undefined : await readBase(String(name), folder);
  const settings = Object.entries(own).map(([key, value]): [string, string] => {
    if (isSecret(value))
      throw new RangeError(
        `Pulumi.${stack}.yaml: ${key} is a secret as a whole, so that nothing of it can be read without Pulumi; set only the password or key in it as a secret, by pulumi config set --secret --path`,
      );
    return [key, JSON.stringify(withStandIns(value, { made: 0 }))];
  });
  return parseConfig(withExperiment(Object.fromEntries(settings), base, experiment), stack, { base });
}

const isSecret = (value: unknown): boolean =>
  value !== null && typeof value === "object" && Object.keys(value).join() === "secure";

/** Each differs, as the two secrets of mutual CHAP must; 64 hex digits pass for a passphrase and a key in hex, too. */
function withStandIns(value: unknown, counter: { made: number }, keyformat?: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (isSecret(value)) {
    counter.made += 1;
    return keyformat === "raw"
      ? Buffer.alloc(32, counter.made).toString("base64")
      : String(counter.made).padStart(64, "0");
  }
  if (Array.isArray(value)) return value.map((one) => withStandIns(one, counter));
  const format = "keyformat" in value ? value.keyformat : undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, withStandIns(one, counter, format)]),
  );
}
