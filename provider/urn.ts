/** `urn:pulumi:STACK::PROJECT::PARENT-TYPES$TYPE::NAME`, Pulumi's name of a resource, taken apart. */
export function urnParts(urn: string): {
  stack: string;
  project: string;
  type: string;
  name: string;
  /** `project/stack`: the mark of what the stack makes. */
  owner: string;
} {
  const [scope = "", project = "", types = "", ...name] = urn.split("::");
  const stack = scope.split(":")[2] ?? "";
  const type = types.split("$").at(-1) ?? "";
  return { stack, project, type, name: name.join("::"), owner: `${project}/${stack}` };
}
