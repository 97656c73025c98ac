import structproto from "google-protobuf/google/protobuf/struct_pb.js";

/**
 * Pulumi's property values on the wire and as plain data. Secrets arrive as envelopes, values that are not known
 * yet as a sentinel; both are handled here and nowhere else.
 */

export type Plain = { [key: string]: unknown };
type Path = string;

const signature = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";
const unknownSentinel = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export type Decoded = {
  /** The values, without envelopes; what is not known yet is undefined. */
  value: Plain;
  /** Paths (`chap.password`, `luns[0]`) of values that are secret. */
  secrets: Path[];
  /** Paths of values that are not known yet. */
  unknowns: Path[];
};

export function decode(struct: structproto.Struct | undefined): Decoded {
  const decoded: Decoded = { value: {}, secrets: [], unknowns: [] };
  const walk = (value: unknown, path: Path): unknown => {
    if (value === unknownSentinel) {
      decoded.unknowns.push(path);
      return undefined;
    }
    if (Array.isArray(value)) return value.map((item, index) => walk(item, `${path}[${index}]`));
    if (value === null || typeof value !== "object") return value ?? undefined;
    const object = value as Plain;
    if (object[signature] === secretSignature) {
      decoded.secrets.push(path);
      return walk(object.value, path);
    }
    return fields(object, path);
  };
  const fields = (object: Plain, path: Path): Plain => {
    const result: Plain = {};
    for (const [key, item] of Object.entries(object)) {
      // Pulumi's own notes (`__defaults`, …) are no inputs.
      if (path === "" && key.startsWith("__")) continue;
      const plain = walk(item, join(path, key));
      if (plain !== undefined) result[key] = plain;
    }
    return result;
  };
  decoded.value = fields((struct?.toJavaScript() ?? {}) as Plain, "");
  return decoded;
}

/** Back to the wire, values at `secrets` in envelopes. */
export function encode(value: Plain, secrets: readonly Path[] = []): structproto.Struct {
  const walk = (item: unknown, path: Path): unknown => {
    const wrapped = Array.isArray(item)
      ? item.map((part, index) => walk(part, `${path}[${index}]`))
      : isObject(item)
        ? fields(item, path)
        : item;
    return secrets.includes(path) ? { [signature]: secretSignature, value: wrapped } : wrapped;
  };
  const fields = (object: Plain, path: Path): Plain =>
    Object.fromEntries(
      Object.entries(object)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [key, walk(item, join(path, key))]),
    );
  return structproto.Struct.fromJavaScript(
    fields(value, "") as Parameters<typeof structproto.Struct.fromJavaScript>[0],
  );
}

/** `a.b`, or `a["b.c"]` where the key is no plain word: Pulumi's property paths. */
export function join(path: Path, key: string): Path {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** The first key of a property path. */
export const topLevel = (path: Path): string => /^[^.[]+/.exec(path)?.[0] ?? path;

/** Is one of these paths the other, or within it? */
export const related = (a: Path, b: Path): boolean => a === b || under(a, b) || under(b, a);
const under = (a: Path, b: Path): boolean => a.startsWith(`${b}.`) || a.startsWith(`${b}[`);

export type Change = { path: Path; kind: "add" | "delete" | "update" };

/** Where two values differ, leaf by leaf, in property paths. */
export function differences(before: unknown, after: unknown, path: Path = ""): Change[] {
  if (before === after) return [];
  if (before === undefined) return [{ path, kind: "add" }];
  if (after === undefined) return [{ path, kind: "delete" }];
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, n) => differences(before[n], after[n], `${path}[${n}]`)).flat();
  }
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => differences(before[key], after[key], join(path, key)));
  }
  return [{ path, kind: "update" }];
}

const isObject = (value: unknown): value is Plain =>
  value !== null && typeof value === "object" && !Array.isArray(value);
