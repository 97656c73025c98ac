import type structProto from "google-protobuf/google/protobuf/struct_pb.js";

/** Keeps secret inputs out of what is logged: the values that arrived in Pulumi's envelopes. */

const signature = "4dabf18193072939515e22adb298388d";

/** A function that puts `[secret]` in the place of every secret text of these properties. */
export function redactor(properties: structProto.Struct): (text: string) => string {
  const texts = new Set<string>();
  const walk = (value: unknown, secret: boolean): void => {
    if (typeof value === "string" && secret && value.trim() !== "") texts.add(value);
    if (value === null || typeof value !== "object") return;
    const object = value as Record<string, unknown>;
    if (signature in object) walk(object.value, true);
    else for (const item of Object.values(object)) walk(item, secret);
  };
  walk(properties.toJavaScript(), false);
  // The longest first: one secret may hold another. A message quotes a command as JSON.
  const forms = [...texts].flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
  forms.sort((a, b) => b.length - a.length);
  return (text) => forms.reduce((line, secret) => line.replaceAll(secret, "[secret]"), text);
}
