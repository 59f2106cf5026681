// The arguments of calls, checked as Python checks them (hatbox/schema/types.py and calls.py), from the same schemas and
// in the same words: wrong ones must be thrown by the call itself, and there is no time to ask. Python asks again.
// What is checked comes out as JSON text. A schema with a word that is not known here is left to Python alone.

import {
  NativeError, NativeMap, append, create, getOwnPropertyDescriptor, hasOwn, isArray, isInteger, isSafeInteger, join,
  mapForEach, mapGet, mapHas, mapSet, mapSize, objectKeys, sort, stringify,
} from "./primordials.js";
import {className, dataOf, encode, quote, show} from "./values.js";

const KNOWN = {
  __proto__: null, name: 1, id: 1, description: 1, aliases: 1, optional: 1, default: 1, type: 1, choices: 1, enum: 1,
  properties: 1, items: 1, minimum: 1, maximum: 1, minItems: 1, maxItems: 1, deprecated: 1,
};

class UnknownSchema {}

// A value that is not of its type. No Error: nobody sees it but this file, and a stack would cost more than all else.
class Mismatch {
  constructor(problem, choice, path = "") {
    this.problem = problem;
    this.choice = choice;
    this.path = path;
  }

  inside(name) { return new Mismatch(this.problem, this.choice, this.path ? `${name}.${this.path}` : name); }
  get text() { return this.path ? `Error processing ${this.path}: ${this.problem}` : this.problem; }
  get asChoice() { return this.path ? `.${this.path} must ${this.choice}` : this.choice; }
}

// A function that takes the arguments of a call of `path` and gives {text, callback}: the arguments for Python, and the
// callback that was among them.
export function compileCall(path, parameters, takesCallback) {
  let expected;
  try {
    expected = parameters.map(schema => ({name: schema.name, optional: schema.optional ?? false, type: compileType(schema)}));
  } catch (error) {
    if (!(error instanceof UnknownSchema)) throw error;
    return args => unchecked(args, takesCallback);
  }
  const sent = takesCallback ? expected.length - 1 : expected.length;
  return args => {
    const quick = args.length === sent ? quickText(expected, args) : null;
    if (quick !== null) return {__proto__: null, text: quick, callback: null};
    const matched = match(expected, 0, args, 0);
    if (matched === null) throw new NativeError(`Incorrect argument types for ${path}.`);
    let text = "";
    for (let i = 0; i < sent; i++) text += (i ? "," : "") + argument(path, expected[i], matched[i]);
    return {__proto__: null, text: `[${text}]`, callback: takesCallback ? matched[sent] ?? null : null};
  };
}

// Nearly every call is right and has one argument for each parameter: this is all that it costs.
function quickText(expected, args) {
  let text = "";
  for (let i = 0; i < args.length; i++) {
    const {type} = expected[i];
    if (!type.fits(args[i])) return null;
    try {
      text += (i ? "," : "") + type.text(args[i]);
    } catch (error) {
      if (error instanceof Mismatch) return null; // put into words below
      throw error;
    }
  }
  return `[${text}]`;
}

function unchecked(args, takesCallback) {
  const last = args.length - 1;
  const callback = takesCallback && typeof args[last] === "function" ? args[last] : null;
  let text = "";
  for (let i = 0; i < (callback ? last : args.length); i++) text += (i ? "," : "") + encode(args[i]);
  return {__proto__: null, text: `[${text}]`, callback};
}

function argument(path, {name, optional, type}, value) {
  if (optional && (value === null || value === undefined)) return "null";
  try {
    return type.text(value);
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    throw new NativeError(`Type error for parameter ${name} (${error.text}) for ${path}.`);
  }
}

// One argument for each parameter, null for an optional one that is left out; null if they do not fit.
function match(expected, e, args, a) {
  if (e === expected.length) return a === args.length ? {__proto__: null} : null;
  const {type, optional} = expected[e];
  if (a < args.length && (type.fits(args[a]) || (optional && (args[a] === null || args[a] === undefined)))) {
    const matched = match(expected, e + 1, args, a + 1);
    if (matched !== null) {
      matched[e] = args[a];
      return matched;
    }
  }
  if (!optional) return null;
  const matched = match(expected, e + 1, args, a);
  if (matched !== null) matched[e] = null;
  return matched;
}

function compileType(schema) {
  for (const word of objectKeys(schema)) {
    if (!(word in KNOWN)) throw new UnknownSchema();
  }
  if (schema.choices) return choices(schema.choices.map(compileType));
  const compile = COMPILERS[schema.type];
  if (compile === undefined) throw new UnknownSchema();
  return compile(schema);
}

const isObject = value => typeof value === "object" && value !== null && !isArray(value);
const isWholeNumber = value => typeof value === "number" && isInteger(value);

function wrongKind(kind, value, choice) {
  return new Mismatch(`Expected ${kind} instead of ${show(value)}`, choice);
}

const COMPILERS = {
  __proto__: null,

  any: () => ({fits: value => value !== null && value !== undefined, text: encode}),

  string(schema) {
    const fits = value => typeof value === "string";
    const allowed = schema.enum && new NativeMap(schema.enum.map(value => [value, true]));
    const choice = allowed && `be one of [${schema.enum.map(value => stringify(value)).join(", ")}]`;
    return {
      fits,
      text(value) {
        if (typeof value !== "string") throw wrongKind("string", value, "be a string value");
        if (allowed && !mapHas(allowed, value)) throw new Mismatch(`Invalid enumeration value ${show(value)}`, choice);
        return quote(value);
      },
    };
  },

  boolean: () => ({
    fits: value => typeof value === "boolean",
    text(value) {
      if (typeof value !== "boolean") throw wrongKind("boolean", value, "be a boolean");
      return value ? "true" : "false";
    },
  }),

  number: schema => ({
    fits: value => typeof value === "number",
    text(value) {
      if (typeof value !== "number") throw wrongKind("number", value, "be a number value");
      if (value - value !== 0) throw new Mismatch("NaN and infinity are not valid", "be a finite number");
      return inRange("Number", schema, value);
    },
  }),

  integer: schema => ({
    fits: isWholeNumber,
    text(value) {
      if (!isWholeNumber(value)) throw wrongKind("integer", value, "be an integer value");
      if (!isSafeInteger(value)) throw new Mismatch("Integer is out of range", "be a valid 32 bit signed integer");
      return inRange("Integer", schema, value);
    },
  }),

  function: () => ({
    fits: value => typeof value === "function",
    text(value) {
      if (typeof value !== "function") throw wrongKind("function", value, "be a function value");
      return encode(value);
    },
  }),

  array({items, minItems = 0, maxItems = Infinity}) {
    const item = compileType(items);
    return {
      fits: isArray,
      text(value) {
        if (!isArray(value)) throw wrongKind("array", value, "be an array value");
        const {length} = value;
        let text = "";
        for (let i = 0; i < length; i++) text += (i ? "," : "") + inside(`${i}`, item, dataOf(value, i));
        if (length < minItems) {
          throw new Mismatch(`Array requires at least ${minItems} items; you have ${length}`, `have at least ${minItems} items`);
        }
        if (length > maxItems) {
          throw new Mismatch(`Array requires at most ${maxItems} items; you have ${length}`, `have at most ${maxItems} items`);
        }
        return `[${text}]`;
      },
    };
  },

  object({properties = {}}) {
    // In alphabetical order, as Firefox looks at them: it decides which of several errors is seen.
    const names = objectKeys(properties).sort();
    const members = names.map(name => ({name, key: stringify(name), optional: properties[name].optional, type: compileType(properties[name])}));
    const known = create(null);
    for (const name of names) known[name] = true;
    return {
      fits: isObject,
      text(value) {
        if (!isObject(value)) throw wrongKind("object", value, "be an object value");
        const kind = className(value);
        if (kind !== "Object") {
          throw new Mismatch(`Expected a plain JavaScript object, got a ${kind}`, "be a plain JavaScript object");
        }
        return objectText(value, members, known);
      },
    };
  },
};

function objectText(object, members, known) {
  const given = create(null);
  let unexpected = null;
  const keys = objectKeys(object);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    const property = getOwnPropertyDescriptor(object, key);
    if (!hasOwn(property, "value")) continue; // a getter is never called, and what it would give is not there
    if (key in known) given[key] = property.value;
    else append(unexpected ??= [], key);
  }
  let text = "";
  for (let i = 0; i < members.length; i++) {
    const {name, key, optional, type} = members[i];
    const value = given[name];
    if ((value === undefined || value === null) && optional) continue;
    if (!(name in given)) throw new Mismatch(`Property "${name}" is required`, `contain the required "${name}" property`);
    text += `${text && ","}${key}:${inside(name, type, value)}`;
  }
  if (unexpected !== null) throw unexpectedProperties(unexpected);
  return `{${text}}`;
}

function unexpectedProperties(names) {
  if (names.length === 1) {
    return new Mismatch(`Unexpected property "${names[0]}"`, `not contain an unexpected "${names[0]}" property`);
  }
  const listed = join(sort(names), ", ");
  return new Mismatch(`Unexpected properties: ${listed}`, `not contain the unexpected properties [${listed}]`);
}

function inside(name, type, value) {
  try {
    return type.text(value);
  } catch (error) {
    throw error instanceof Mismatch ? error.inside(name) : error;
  }
}

function inRange(kind, {minimum = -Infinity, maximum = Infinity}, value) {
  if (value < minimum) throw new Mismatch(`${kind} ${value} is too small (must be at least ${minimum})`, `be at least ${minimum}`);
  if (value > maximum) throw new Mismatch(`${kind} ${value} is too big (must be at most ${maximum})`, `be no greater than ${maximum}`);
  return `${value + 0}`;
}

function choices(types) {
  return {
    fits(value) {
      for (let i = 0; i < types.length; i++) if (types[i].fits(value)) return true;
      return false;
    },
    text(value) {
      const wrong = new NativeMap();
      let first = null;
      for (let i = 0; i < types.length; i++) {
        try {
          return types[i].text(value);
        } catch (error) {
          if (!(error instanceof Mismatch)) throw error;
          first ??= error;
          mapSet(wrong, error.asChoice, error);
        }
      }
      if (mapSize(wrong) === 1) throw mapGet(wrong, first.asChoice);
      const shown = value === null || value === undefined || typeof value === "object" ? "" : ` ${show(value)}`;
      let others = "", last = "";
      mapForEach(wrong, (_, choice) => {
        if (last) others += `${last}, `;
        last = choice;
      });
      const problem = `Value${shown} must either: ${others}or ${last}`;
      throw new Mismatch(problem, problem);
    },
  };
}
