import { z } from "zod";

/** CHAP as targets and initiators declare it; RFC 7143, section 12.1. */

const secret = z.string().min(1).max(255).meta({ secret: true });

export const chapInputs = z
  .strictObject({
    user: z.string().min(1).max(255).describe("The name that the initiator gives."),
    password: secret.describe(
      "Its secret: 12 to 16 characters suit every initiator, LIO and Open-iSCSI take up to 255.",
    ),
    mutualUser: z.string().min(1).max(255).optional().describe("The name that the target gives in turn."),
    mutualPassword: secret.optional().describe("The target's secret; has to differ from the initiator's."),
  })
  .describe("CHAP. Default: none; credentials of before are cleared.");
export type ChapInputs = z.infer<typeof chapInputs>;

/** CHAP as it is observed: a name or secret that is not set is empty. */
export type Chap = { user: string; password: string; mutualUser: string; mutualPassword: string };

export const chapOf = (chap: ChapInputs | undefined): Chap => ({
  user: chap?.user ?? "",
  password: chap?.password ?? "",
  mutualUser: chap?.mutualUser ?? "",
  mutualPassword: chap?.mutualPassword ?? "",
});

/** The reverse, for what was observed; undefined where nothing is set. */
export const chapInputsOf = ({ user, password, mutualUser, mutualPassword }: Chap): ChapInputs | undefined =>
  user === "" && password === ""
    ? undefined
    : {
        user,
        password,
        ...(mutualUser === "" ? {} : { mutualUser }),
        ...(mutualPassword === "" ? {} : { mutualPassword }),
      };

/** What is wrong with it: [key, sentence]. Values are secret: no sentence shows one. */
export function chapRules(chap: ChapInputs | undefined): [string, string][] {
  const found: [string, string][] = [];
  if (chap === undefined) return found;
  for (const [name, value] of Object.entries(chapOf(chap))) {
    const key = `chap.${name}`;
    if (/^\s|\s$|[^\x20-\x7e]/.test(value)) {
      found.push([key, `${key} may hold printable ASCII only, without a blank at either end`]);
    }
    if (value.startsWith("NULL")) {
      found.push([key, `${key} may not begin with NULL: the kernel's target takes that for none`]);
    }
  }
  if ((chap.mutualUser === undefined) !== (chap.mutualPassword === undefined)) {
    found.push(["chap", "mutual CHAP needs both mutualUser and mutualPassword"]);
  }
  if (chap.mutualPassword !== undefined && chap.mutualPassword === chap.password) {
    const rule = "the target's secret has to differ from the initiator's (RFC 7143, section 12.1.3)";
    found.push(["chap.mutualPassword", rule]);
  }
  return found;
}
