/**
 * Names of targets and initiators: RFC 7143 section 4.2.7, RFC 3722, and what rtslib takes (targetcli refuses to
 * start on a name that it does not take, so such a name must never reach configfs).
 */

/** Why this is no iSCSI name, as a sentence; undefined when it is one. */
export function iqnProblem(name: string): string | undefined {
  const say = (rule: string): string => `${JSON.stringify(name)} is no iSCSI name: ${rule}`;
  if (/^eui\.[0-9a-f]{16}$/.test(name) || /^naa\.[125c][0-9a-f]{15}$/.test(name)) return undefined;
  if (name.length > 223) return say(`it has ${name.length} characters, at most 223 are allowed`);
  if (name !== name.toLowerCase()) return say(`write it in lower case: ${name.toLowerCase()}`);
  const bad = /[^a-z0-9.:-]/.exec(name)?.[0];
  if (bad !== undefined) {
    return say(`it holds ${JSON.stringify(bad)}; only letters, digits, ".", "-" and ":" are allowed`);
  }
  const parts = /^iqn\.(\d{4})-(\d{2})\.([^:]*)(?::.*)?$/.exec(name);
  if (parts === null) return say(`write it as ${example}`);
  const [, , month = "", authority = ""] = parts;
  if (Number(month) < 1 || Number(month) > 12) return say(`${month} is no month`);
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(authority)) {
    return say(`${JSON.stringify(authority)} is no reversed domain name; write it as ${example}`);
  }
  // rtslib wants a dot after the date's; a domain of one label has none.
  if (!authority.includes(".")) {
    return say(`its domain ${authority} needs two labels, as in com.example; write it as ${example}`);
  }
  return undefined;
}

const example =
  "iqn.2026-09.com.example:name (year and month in which the domain was yours, the domain reversed)";
