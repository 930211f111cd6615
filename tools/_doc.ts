/**
 * Reads `deno doc --json`, as far as what is generated from it goes.
 *
 * @module
 */

/** A comment. */
export interface JsDoc {
  /** Its text, without tags. */
  readonly doc?: string;
  /** Its tags. */
  readonly tags?: readonly { readonly kind: string; readonly value?: string }[];
}

/** A property of an interface or of a type that is written out. */
export interface Property {
  /** Its name. */
  readonly name: string;
  /** Its comment. */
  readonly jsDoc?: JsDoc;
  /** True: it may be left out. */
  readonly optional?: boolean;
  /** Its type. */
  readonly tsType: TsType;
}

/** A reference to a type by name. */
export interface TypeRef {
  /** The name. */
  readonly typeName: string;
  /** What is between the angle brackets. */
  readonly typeParams?: readonly TsType[];
  /** Where the type comes from. Omitted: from the language. */
  readonly resolution?: { readonly kind: string };
}

/** A type, as `deno doc` tells it. */
export type TsType =
  | { readonly kind: "keyword"; readonly value: string }
  | { readonly kind: "literal"; readonly value: Literal }
  | { readonly kind: "array" | "parenthesized"; readonly value: TsType }
  | { readonly kind: "typeOperator"; readonly value: { readonly tsType: TsType } }
  | { readonly kind: "union" | "intersection"; readonly value: readonly TsType[] }
  | { readonly kind: "typeLiteral"; readonly value: { readonly properties?: readonly Property[] } }
  | { readonly kind: "typeRef"; readonly value: TypeRef };

/** A type of one value. */
export interface Literal {
  /** Which of the fields has it. */
  readonly kind: string;
  /** A text. */
  readonly string?: string;
  /** A number. */
  readonly number?: number;
  /** A truth. */
  readonly boolean?: boolean;
}

/** A declaration that is exported. */
export interface Declaration {
  /** What it is. */
  readonly kind: string;
  /** Its comment. */
  readonly jsDoc?: JsDoc;
  /** What it says: of an interface, or of another name for a type. */
  readonly def: {
    readonly extends?: readonly TsType[];
    readonly properties?: readonly Property[];
    readonly tsType?: TsType;
  };
}

/** Types by name: `tests/names_test.ts` holds that one name is in one file. */
export type Declarations = ReadonlyMap<string, Declaration>;

interface Documented {
  readonly nodes: Readonly<
    Record<string, {
      readonly symbols: readonly {
        readonly name: string;
        readonly declarations: readonly Declaration[];
      }[];
    }>
  >;
}

/** The types that some files export. */
export async function declarationsOf(...paths: readonly string[]): Promise<Declarations> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", ...paths],
    cwd: new URL("../", import.meta.url),
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`No documentation of ${paths.join(", ")}`);
  const { nodes }: Documented = JSON.parse(new TextDecoder().decode(stdout));
  const found = new Map<string, Declaration>();
  for (const { symbols } of Object.values(nodes)) {
    for (const { name, declarations } of symbols) {
      const type = declarations.find(({ kind }) => kind === "interface" || kind === "typeAlias");
      if (type !== undefined) found.set(name, type);
    }
  }
  return found;
}

/** A default that follows a text on its line: `deno doc` takes it for text. */
const DEFAULT = /\s*@default \{(.*)\}$/;

/** What a comment says, in one line. */
export function textOf(jsDoc: JsDoc | undefined): string | undefined {
  const text = jsDoc?.doc?.trim().replaceAll(/\s+/g, " ").replace(DEFAULT, "");
  return text === "" ? undefined : text;
}

/** The default that a comment names. */
export function defaultOf(jsDoc: JsDoc | undefined): string | undefined {
  const [, inLine] = DEFAULT.exec(jsDoc?.doc?.trim() ?? "") ?? [];
  return inLine ?? jsDoc?.tags?.find(({ kind }) => kind === "default")?.value;
}

/** All properties of a declared type, inherited ones first. */
export function propertiesOf(name: string, types: Declarations): readonly Property[] {
  const declared = types.get(name);
  if (declared === undefined) throw new Error(`No type is named ${name}: give its file too`);
  const { def } = declared;
  if (def.tsType !== undefined) return propertiesIn(def.tsType, types);
  const inherited = (def.extends ?? []).flatMap((type) => propertiesIn(type, types));
  const own = def.properties ?? [];
  const names = own.map(({ name }) => name);
  return [...inherited.filter(({ name }) => !names.includes(name)), ...own];
}

/** All properties of a type: of an object, of all parts of an intersection, of what is left by `Omit`. */
export function propertiesIn(type: TsType, types: Declarations): readonly Property[] {
  if (type.kind === "typeLiteral") return type.value.properties ?? [];
  if (type.kind === "parenthesized") return propertiesIn(type.value, types);
  if (type.kind === "intersection") return type.value.flatMap((part) => propertiesIn(part, types));
  if (type.kind !== "typeRef") throw new Error(`A ${type.kind} has no properties`);
  const { typeName, typeParams: [of, keys] = [] } = type.value;
  if (typeName !== "Omit" || of === undefined || keys === undefined) {
    return propertiesOf(typeName, types);
  }
  const left = literalsIn(keys);
  return propertiesIn(of, types).filter(({ name }) => !left.includes(name));
}

/** The values of a type that is one, or one of several. */
export function literalsIn(type: TsType): readonly unknown[] {
  if (type.kind === "union") return type.value.flatMap(literalsIn);
  if (type.kind !== "literal") throw new Error(`Expected a literal but found a ${type.kind}`);
  const { string, number, boolean } = type.value;
  return [string ?? number ?? boolean];
}
