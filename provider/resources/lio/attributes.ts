/** Attributes of backstores and TPGs: what is declared against what LIO has. A left out attribute stays as it is. */

export type Declared = Readonly<Record<string, string | number>>;

export const attributeTexts = (declared: Declared = {}): [name: string, value: string][] =>
  Object.entries(declared).map(([name, value]) => [name, String(value)]);

/** Why this is no attribute's name in configfs, as a sentence; undefined when it is one. */
export const attributeProblem = (name: string): string | undefined =>
  /^[a-z][a-z0-9_]*$/.test(name) ? undefined : `${JSON.stringify(name)} is no name of an attribute of LIO`;

/** The attributes that differ from what the kernel gives. */
export const setAttributes = (
  there: ReadonlyMap<string, string>,
  defaults: Readonly<Record<string, number>>,
): Record<string, string | number> =>
  Object.fromEntries(
    [...there]
      .filter(([name, value]) => name in defaults && value !== String(defaults[name]))
      .map(([name, value]) => [name, /^\d{1,9}$/.test(value) ? Number(value) : value]),
  );

/** Attributes as they are there, in the spelling of those declared; what LIO does not have is not among them. */
export const currentAttributes = (
  there: ReadonlyMap<string, string>,
  declared: Declared,
): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(declared).flatMap(([name, value]) => {
      const now = there.get(name);
      return now === undefined ? [] : [[name, now === String(value) ? value : now]];
    }),
  );
