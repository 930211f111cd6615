/**
 * Makes JSON Schema of types: of what they say, and of what their comments say.
 *
 * @module
 */

import {
  type Declarations,
  literalsIn,
  propertiesIn,
  propertiesOf,
  type Property,
  textOf,
  type TsType,
} from "./_doc.ts";

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Numbers that may be fractions; the others are counts. */
const FRACTIONS =
  /(Ms|MsSq|Log|PerSec|Difference)$|^(mean|p50|p95|p99|weight|share|value|workers)$/;

/** Makes schemas, and those of the types that they name. */
export class SchemaMaker {
  /** Schemas of the types that were named so far. */
  readonly named: Record<string, JsonSchema> = {};
  readonly #types: Declarations;
  readonly #nameOf: (type: string) => string;

  /** @param nameOf What a type is called on the outside. */
  constructor(types: Declarations, nameOf: (type: string) => string) {
    this.#types = types;
    this.#nameOf = nameOf;
  }

  /** The schema of a type. `name`: of the property that it is the type of. */
  of(type: TsType, name = ""): JsonSchema {
    switch (type.kind) {
      case "keyword":
        return keyword(type.value, name);
      case "literal":
        return { const: literalsIn(type)[0] };
      case "array":
        return { type: "array", items: this.of(type.value, name) };
      case "typeOperator":
        return this.of(type.value.tsType, name);
      case "parenthesized":
        return this.of(type.value, name);
      case "union":
        return this.#union(type.value, name);
      case "intersection":
      case "typeLiteral":
        return this.#object(propertiesIn(type, this.#types));
      case "typeRef":
        return this.#reference(type.value.typeName, type.value.typeParams ?? [], type);
    }
  }

  /** A reference to the schema of a type, which is made if it is not there yet. */
  ref(type: string): JsonSchema {
    const name = this.#nameOf(type);
    if (this.named[name] === undefined) {
      this.named[name] = {}; // it may speak of itself
      const { jsDoc, def } = this.#types.get(type) ?? {};
      const schema = def?.tsType === undefined
        ? this.#object(propertiesOf(type, this.#types))
        : this.of(def.tsType);
      this.named[name] = described(schema, textOf(jsDoc));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #union(parts: readonly TsType[], name: string): JsonSchema {
    const present = parts.filter((part) => !isUndefined(part));
    const [first] = present;
    if (first !== undefined && present.length === 1) return this.of(first, name);
    if (present.every(({ kind }) => kind === "literal")) {
      return { enum: present.flatMap(literalsIn) };
    }
    return { anyOf: present.map((part) => this.of(part, name)) };
  }

  #object(properties: readonly Property[]): JsonSchema {
    const required = properties.filter((property) => !isOptional(property));
    return {
      type: "object",
      properties: Object.fromEntries(
        properties.map(({ name, tsType, jsDoc }) => [
          name,
          described(this.of(tsType, name), textOf(jsDoc)),
        ]),
      ),
      ...(required.length === 0 ? {} : { required: required.map(({ name }) => name) }),
      additionalProperties: false,
    };
  }

  #reference(name: string, params: readonly TsType[], type: TsType): JsonSchema {
    const [first, second] = params;
    if (name === "Readonly" && first !== undefined) return this.of(first);
    if (name === "Omit") return this.#object(propertiesIn(type, this.#types));
    if (name === "Record" && second !== undefined) {
      return { type: "object", additionalProperties: this.of(second) };
    }
    if (name === "Exclude" && first !== undefined && second !== undefined) {
      const { enum: all } = this.of(first);
      if (!Array.isArray(all)) throw new Error("Expected to exclude of names");
      return { enum: all.filter((value) => !literalsIn(second).includes(value)) };
    }
    const declared = this.#types.get(name);
    if (declared === undefined) return {}; // what a caller chooses: any value
    const alias = declared.def.tsType;
    return alias === undefined || isRecord(alias) ? this.ref(name) : this.of(alias);
  }
}

/** A schema with what is to be known of it. `undefined` is what JSON leaves out. */
export function described(schema: JsonSchema, text: string | undefined): JsonSchema {
  if (text === undefined) return schema;
  return { description: text.replaceAll("`undefined`", "Left out"), ...schema };
}

function keyword(type: string, name: string): JsonSchema {
  if (type === "unknown") return {};
  if (type !== "number" || FRACTIONS.test(name)) return { type };
  return { type: "integer", minimum: 0 };
}

function isOptional({ optional, tsType }: Property): boolean {
  return optional === true || (tsType.kind === "union" && tsType.value.some(isUndefined));
}

function isUndefined(type: TsType): boolean {
  return type.kind === "keyword" && type.value === "undefined";
}

/** True for another name of a map: it is worth a name on the outside too. */
function isRecord(type: TsType): boolean {
  return type.kind === "typeRef" && type.value.typeName === "Readonly";
}
